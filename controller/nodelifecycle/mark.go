package nodelifecycle

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller/podcontrol"
)

// told are the conditions that a kubelet reports.
var told = []corev1.NodeConditionType{
	corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure,
}

// markUnknown says of a silent node that its state is not known.
func (c *lifecycle) markUnknown(ctx context.Context, n *corev1.Node) (*corev1.Node, error) {
	changed := n.DeepCopy()
	now := metav1.Now()
	for _, t := range told {
		switch was := condition(changed, t); {
		case was == nil:
			changed.Status.Conditions = append(changed.Status.Conditions, corev1.NodeCondition{
				Type: t, Status: corev1.ConditionUnknown, Reason: "NodeStatusNeverUpdated",
				Message:           "Kubelet never posted node status.",
				LastHeartbeatTime: n.CreationTimestamp, LastTransitionTime: now,
			})
		case was.Status != corev1.ConditionUnknown:
			was.Status, was.LastTransitionTime = corev1.ConditionUnknown, now
			was.Reason, was.Message = "NodeStatusUnknown", "Kubelet stopped posting node status."
		}
	}
	if equality.Semantic.DeepEqual(n.Status.Conditions, changed.Status.Conditions) {
		return n, nil
	}
	c.rec.Event(n, corev1.EventTypeNormal, "NodeNotReady", "Node %s status is now: NodeNotReady", n.Name)
	return c.nodesAPI.UpdateStatus(ctx, changed)
}

// markPod sets the pod's Ready condition to false.
func (c *lifecycle) markPod(ctx context.Context, p *corev1.Pod) error {
	was := podcontrol.Condition(p, corev1.PodReady)
	is := *was
	is.Status, is.LastTransitionTime = corev1.ConditionFalse, metav1.Now()
	_, err := c.podsAPI.Namespace(p.Namespace).Patch(ctx, p.Name, client.StrategicPatch(map[string]any{
		"metadata": map[string]any{"uid": p.UID},
		"status":   map[string]any{"conditions": []corev1.PodCondition{is}},
	}).On("status"))
	if err == nil {
		c.rec.Event(p, corev1.EventTypeWarning, "NodeNotReady", "Node is not ready")
	}
	return ignoreNotFound(err)
}

// taint brings the taints that are ours up to date.
func (c *lifecycle) taint(ctx context.Context, n *corev1.Node) error {
	want := reconcileTaints(n, c.anyReady())
	if equality.Semantic.DeepEqual(n.Spec.Taints, want) {
		return nil
	}
	changed := n.DeepCopy()
	changed.Spec.Taints = want
	_, err := c.nodesAPI.Update(ctx, changed)
	return err
}

func (c *lifecycle) anyReady() bool {
	return slices.ContainsFunc(c.nodes.Store().List(""), isReady)
}

// reconcileTaints gives the node's taints as they should be: those that are not
// ours as they stand, ours as its state asks, kept with their time where they
// were there before.
func reconcileTaints(n *corev1.Node, anyReady bool) []corev1.Taint {
	wanted := stateTaints(n)
	if anyReady {
		wanted = append(wanted, evicting(n)...)
	}
	var out []corev1.Taint
	has := func(list []corev1.Taint, t corev1.Taint) bool {
		return slices.ContainsFunc(list, func(x corev1.Taint) bool { return x.Key == t.Key && x.Effect == t.Effect })
	}
	for _, t := range n.Spec.Taints {
		if !ours(t) || has(wanted, t) {
			out = append(out, t)
		}
	}
	for _, t := range wanted {
		if !has(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// stateTaints are the NoSchedule taints that the node's state asks for.
func stateTaints(n *corev1.Node) []corev1.Taint {
	var out []corev1.Taint
	for _, r := range rules {
		c := condition(n, r.condition)
		if c != nil && c.Status == r.status {
			out = append(out, corev1.Taint{Key: r.key, Effect: corev1.TaintEffectNoSchedule})
		}
	}
	if n.Spec.Unschedulable {
		out = append(out, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	return out
}

// evicting is the NoExecute taint of a node that is not ready.
func evicting(n *corev1.Node) []corev1.Taint {
	c := condition(n, corev1.NodeReady)
	if c == nil || c.Status == corev1.ConditionTrue {
		return nil
	}
	key := corev1.TaintNodeNotReady
	if c.Status == corev1.ConditionUnknown {
		key = corev1.TaintNodeUnreachable
	}
	now := metav1.Now()
	return []corev1.Taint{{Key: key, Effect: corev1.TaintEffectNoExecute, TimeAdded: &now}}
}

// rule says which taint a condition asks for.
type rule struct {
	condition corev1.NodeConditionType
	status    corev1.ConditionStatus
	key       string
}

var rules = []rule{
	{corev1.NodeReady, corev1.ConditionFalse, corev1.TaintNodeNotReady},
	{corev1.NodeReady, corev1.ConditionUnknown, corev1.TaintNodeUnreachable},
	{corev1.NodeMemoryPressure, corev1.ConditionTrue, corev1.TaintNodeMemoryPressure},
	{corev1.NodeDiskPressure, corev1.ConditionTrue, corev1.TaintNodeDiskPressure},
	{corev1.NodePIDPressure, corev1.ConditionTrue, corev1.TaintNodePIDPressure},
	{corev1.NodeNetworkUnavailable, corev1.ConditionTrue, corev1.TaintNodeNetworkUnavailable},
}

// ours reports whether a taint is one that this controller sets and removes.
func ours(t corev1.Taint) bool {
	switch t.Effect {
	case corev1.TaintEffectNoExecute:
		return t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable
	case corev1.TaintEffectNoSchedule:
		return t.Key == corev1.TaintNodeUnschedulable ||
			slices.ContainsFunc(rules, func(r rule) bool { return r.key == t.Key })
	}
	return false
}
