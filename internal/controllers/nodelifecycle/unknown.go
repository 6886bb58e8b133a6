package nodelifecycle

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/condition"
	"fairlead.dev/internal/controllers/podcontrol"
)

// kubeletConditions are the conditions that a kubelet reports. NetworkUnavailable is reported by others.
var kubeletConditions = []corev1.NodeConditionType{
	corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure,
}

// lastHeartbeat returns the last heartbeat of the Ready condition.
func lastHeartbeat(n *corev1.Node) time.Time {
	if c := nodeCondition(n, corev1.NodeReady); c != nil {
		return c.LastHeartbeatTime.Time
	}
	return time.Time{}
}

// checkHeartbeat sets the conditions of a node without a heartbeat for too long to Unknown, and returns the node after
// that. For other nodes, left is the remaining time.
func (c *lifecycle) checkHeartbeat(ctx context.Context, n *corev1.Node) (_ *corev1.Node, left time.Duration, err error) {
	grace := c.o.Grace
	if nodeCondition(n, corev1.NodeReady) == nil {
		grace = c.o.StartupGrace
	}
	ago, valid := c.heartbeats.last(n.Name)
	if c.o.HonorLeases {
		grace = max(grace, valid)
	}
	if left = grace - ago; left > 0 {
		return n, left, nil
	}
	changed, wasReady := unknown(n, metav1.Now()), isReady(n)
	if changed == nil {
		return n, 0, nil // set before; its next heartbeat is an event
	}
	if stale, err := c.isStale(ctx, n.Name); err != nil || stale {
		return n, staleRecheck, err
	}
	changed, err = c.nodes.API.UpdateStatus(ctx, changed)
	if err != nil {
		return n, 0, err
	}
	if wasReady {
		c.heartbeats.setLost(n.Name, true)
		c.rec.Event(n, corev1.EventTypeNormal, "NodeNotReady", "Node %s status is now: NodeNotReady", n.Name)
	}
	return changed, 0, nil
}

// staleRecheck is the time until the next look at a node whose Lease is newer than the one that the informer holds.
const staleRecheck = 5 * time.Second

// isStale reports whether the informer is behind the Lease of a node, so that the node may have renewed it. Upstream does
// so with the feature gate NodeControllerLeaseCircuitBreaker, on since 1.37.
func (c *lifecycle) isStale(ctx context.Context, node string) (bool, error) {
	live, err := c.leaseAPI.Get(ctx, node)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	held, ok := c.leases.Store().Get(corev1.NamespaceNodeLease, node)
	return !ok || held.ResourceVersion != live.ResourceVersion, nil
}

// unknown returns the node with all conditions of the kubelet Unknown; nil if they are already.
func unknown(n *corev1.Node, now metav1.Time) *corev1.Node {
	if c := nodeCondition(n, corev1.NodeReady); c != nil && c.Status == corev1.ConditionUnknown {
		return nil
	}
	n = n.DeepCopy()
	for _, t := range kubeletConditions {
		switch was := nodeCondition(n, t); {
		case was == nil:
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{
				Type: t, Status: corev1.ConditionUnknown, Reason: "NodeStatusNeverUpdated",
				Message:           "Kubelet never posted node status.",
				LastHeartbeatTime: n.CreationTimestamp, LastTransitionTime: now,
			})
		case was.Status != corev1.ConditionUnknown:
			was.Status, was.LastTransitionTime = corev1.ConditionUnknown, now
			was.Reason, was.Message = "NodeStatusUnknown", "Kubelet stopped posting node status."
		}
	}
	return n
}

// markPods sets the pods of a node that lost its heartbeat to not ready. It does so once, because a kubelet that is
// still running knows better.
func (c *lifecycle) markPods(ctx context.Context, n *corev1.Node) error {
	if !c.heartbeats.isLost(n.Name) {
		return nil
	}
	if !isReady(n) {
		pods := c.pods.Store().ByIndex(byNode, n.Name)
		if _, err := podcontrol.Parallel(len(pods), func(i int) error { return c.markPod(ctx, pods[i]) }); err != nil {
			return err
		}
	}
	c.heartbeats.setLost(n.Name, false)
	return nil
}

// reconcilePod marks a pod that was bound to a node that is not ready.
func (c *lifecycle) reconcilePod(ctx context.Context, k controller.Key) error {
	p, ok := c.pods.Store().Get(k.Namespace, k.Name)
	if !ok {
		return nil
	}
	if n, ok := c.nodes.Store().Get("", p.Spec.NodeName); !ok || !isBad(n) {
		return nil
	}
	return c.markPod(ctx, p)
}

// markPod sets the Ready condition of a ready pod to false.
func (c *lifecycle) markPod(ctx context.Context, p *corev1.Pod) error {
	if !podcontrol.IsReady(p) {
		return nil
	}
	is := *condition.OfPod(&p.Status, corev1.PodReady)
	is.Status, is.LastTransitionTime = corev1.ConditionFalse, metav1.Now()
	_, err := c.pods.API.Namespace(p.Namespace).Patch(ctx, p.Name, client.StrategicPatch(map[string]any{
		"metadata": map[string]any{"uid": p.UID},
		"status":   map[string]any{"conditions": []corev1.PodCondition{is}},
	}).On("status"))
	if err == nil {
		c.rec.Event(p, corev1.EventTypeWarning, "NodeNotReady", "Node is not ready")
	}
	return client.IgnoreNotFound(err)
}
