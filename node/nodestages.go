package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/stage"
)

// playNode plays stages on the node's own object. It does so during an outage too, since a stage may end that.
func (k *kubelet) playNode(ctx context.Context) (next time.Time, err error) {
	k.mu.Lock()
	node := k.mu.node
	k.mu.Unlock()
	if node == nil {
		return next, nil
	}
	now := time.Now()
	if err := k.choice.Update(node, k.options.Definitions.Stages("Node"), now); err != nil {
		return next, err
	}
	if at, chosen := k.choice.Next(); !chosen || now.Before(at) {
		return at, nil
	}
	actions, err := k.choice.Actions(stage.Funcs{
		"Version":  func() string { return client.Version },
		"NodeIP":   func() string { return k.host.First.String() },
		"NodeName": func() string { return k.name },
		"NodePort": func() int32 { return k.port() },
	})
	if err == nil {
		node, err = carryOut(k, node, actions, func(_ *corev1.Node, p *stage.Patch) (*corev1.Node, error) {
			return patch[*corev1.Node](ctx, k.Nodes, "", k.name, p)
		}, func(*corev1.Node) error { return k.nodes.Delete(ctx, k.name) })
	}
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		k.env.Log.Warn("cannot play a stage", "node", k.name, "err", err)
		return next, err
	}
	k.choice.Done(now)
	if err != nil {
		return next, nil // the watch brings the present version
	}
	k.observe(node)
	return now, nil
}
