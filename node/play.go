package node

import (
	"context"
	"encoding/json"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/stage"
)

// play plays the stages that select a pod. It reports whether the built-in lifecycle is not to run now, and when
// to look again.
//
// If a stage selects a pod that has just been bound, stages alone play it. In all other pods a stage interrupts
// the built-in lifecycle. A pod that is deleted ends by the built-in lifecycle unless a stage selects it.
func (key podKey) play(ctx context.Context, pod *corev1.Pod, ip netip.Addr) (alone bool, next time.Time, err error) {
	k := key.node
	stages := k.options.Definitions.Stages("Pod")
	if len(stages) == 0 {
		return false, next, nil
	}
	k.mu.Lock()
	p := k.mu.pods[key.uid]
	k.mu.Unlock()
	if p == nil {
		return true, next, nil
	}
	now := time.Now()
	t := &p.pending // owned by this worker
	if err := t.choose(pod, stages, now); err != nil {
		return true, next, err
	}
	if t.stage == nil || now.Before(t.due) {
		if t.stage != nil {
			next = t.due
		}
		if pod.DeletionTimestamp != nil {
			return t.stage != nil, next, nil
		}
		fresh := *pod
		fresh.Status = corev1.PodStatus{Phase: corev1.PodPending}
		alone, err = selected(stages, &fresh)
		return alone, next, err
	}
	steps, err := t.stage.Steps(t.object, k.funcs(pod, ip))
	if err != nil {
		k.env.Log.Warn("cannot play a stage", "stage", t.stage.Name, "pod", pod.Namespace+"/"+pod.Name, "err", err)
		return true, next, err
	}
	current, err := key.perform(ctx, pod, steps)
	if err != nil {
		if err = k.refused(key, pod, err); err == nil {
			t.stage = nil // the watch brings the present version
		}
		return true, next, err
	}
	return true, t.played(current.ResourceVersion, now), nil
}

// perform runs the steps of a stage.
func (key podKey) perform(ctx context.Context, pod *corev1.Pod, steps []stage.Step) (*corev1.Pod, error) {
	k := key.node
	for _, s := range steps {
		switch {
		case s.Event != nil:
			k.recorder.Event(pod, s.Event.Type, s.Event.Reason, "%s", s.Event.Message)
		case s.Delete:
			return pod, k.remove(ctx, pod)
		default:
			if next := preview(pod, s.Patch); next != nil {
				k.decided(key, pod, next)
			}
			err := k.trace(ctx, pod, func(ctx context.Context) (err error) {
				pod, err = patched[*corev1.Pod](ctx, k.Nodes, pod.Namespace, pod.Name, s.Patch)
				return err
			})
			if err != nil {
				return pod, err
			}
			k.recordPatched(key, pod)
		}
	}
	return pod, nil
}

// recordPatched stores a version that a patch has made, unless the watch was faster.
func (k *kubelet) recordPatched(key podKey, written *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.mu.pods[key.uid]; p != nil && written.UID == key.uid && isNewer(written, p.latest) {
		p.become(written)
		k.mu.images.pulled(written)
	}
}

// preview returns the pod with a patch applied; nil if the patch can't be applied here.
func preview(pod *corev1.Pod, p *stage.Patch) *corev1.Pod {
	text, err := json.Marshal(pod)
	if err != nil {
		return nil
	}
	switch p.Type {
	case types.StrategicMergePatchType:
		text, err = strategicpatch.StrategicMergePatch(text, p.Data, corev1.Pod{})
	case types.MergePatchType:
		text, err = jsonpatch.MergePatch(text, p.Data)
	default:
		var ops jsonpatch.Patch
		if ops, err = jsonpatch.DecodePatch(p.Data); err == nil {
			text, err = ops.Apply(text)
		}
	}
	next := &corev1.Pod{}
	if err != nil || json.Unmarshal(text, next) != nil {
		return nil
	}
	return next
}

// funcs returns the functions of templates. They answer for this pod on this node, whatever their arguments are.
func (k *kubelet) funcs(pod *corev1.Pod, ip netip.Addr) stage.Funcs {
	of := func(host bool) string {
		switch {
		case host:
			return k.ip.String()
		case ip.IsValid():
			return ip.String()
		}
		return pod.Status.PodIP
	}
	asked := func(args []any) bool {
		host := false
		if len(args) > 1 {
			host, _ = args[1].(bool)
		}
		return host
	}
	return stage.Funcs{
		"Version":     func() string { return client.Version },
		"NodeIP":      func() string { return k.ip.String() },
		"NodeIPWith":  func(...any) string { return k.ip.String() },
		"NodeIPsWith": func(...any) []string { return []string{k.ip.String()} },
		"PodIP":       func() string { return of(pod.Spec.HostNetwork) },
		"PodIPWith":   func(args ...any) string { return of(asked(args)) },
		"PodIPsWith":  func(args ...any) []string { return []string{of(asked(args))} },
	}
}

// playNode plays stages on the node's own object. It does so during an outage too, since a stage may end that.
func (k *kubelet) playNode(ctx context.Context) (next time.Time, err error) {
	k.mu.Lock()
	node := k.mu.node
	k.mu.Unlock()
	if node == nil {
		return next, nil
	}
	now := time.Now()
	if err := k.pending.choose(node, k.options.Definitions.Stages("Node"), now); err != nil {
		return next, err
	}
	if t := &k.pending; t.stage == nil {
		return next, nil
	} else if now.Before(t.due) {
		return t.due, nil
	}
	steps, err := k.pending.stage.Steps(k.pending.object, stage.Funcs{
		"Version":  func() string { return client.Version },
		"NodeIP":   func() string { return k.ip.String() },
		"NodeName": func() string { return k.name },
		"NodePort": func() int32 { return k.port() },
	})
	for _, s := range steps {
		switch {
		case err != nil:
		case s.Event != nil:
			k.recorder.Event(node, s.Event.Type, s.Event.Reason, "%s", s.Event.Message)
		case s.Delete:
			err = k.nodes.Delete(ctx, k.name)
		default:
			node, err = patched[*corev1.Node](ctx, k.Nodes, "", k.name, s.Patch)
		}
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		k.pending.stage = nil
		return next, nil
	} else if err != nil {
		k.env.Log.Warn("cannot play a stage", "stage", k.pending.stage.Name, "node", k.name, "err", err)
		return next, err
	}
	k.observe(node)
	return k.pending.played(node.ResourceVersion, now), nil
}
