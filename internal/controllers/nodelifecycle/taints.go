package nodelifecycle

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rule maps a condition to a taint.
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

// ours reports whether a taint belongs to this controller.
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

// executeTaint returns the key of the NoExecute taint for the node's state, or "". Not ready and
// unreachable exclude each other.
func executeTaint(n *corev1.Node) string {
	c := nodeCondition(n, corev1.NodeReady)
	switch {
	case c == nil || c.Status == corev1.ConditionTrue:
		return ""
	case c.Status == corev1.ConditionUnknown:
		return corev1.TaintNodeUnreachable
	}
	return corev1.TaintNodeNotReady
}

// hasExecute reports whether the node has a NoExecute taint for its state.
func hasExecute(taints []corev1.Taint) bool {
	return slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoExecute && ours(t) })
}

// withTaints returns the node's desired taints: the foreign ones unchanged, and ours by its state, including
// execute if not empty. Existing taints keep their time.
func withTaints(n *corev1.Node, execute string, now metav1.Time) []corev1.Taint {
	var wanted []corev1.Taint
	for _, r := range rules {
		if c := nodeCondition(n, r.condition); c != nil && c.Status == r.status {
			wanted = append(wanted, corev1.Taint{Key: r.key, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &now})
		}
	}
	if n.Spec.Unschedulable {
		wanted = append(wanted, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &now})
	}
	if execute != "" {
		wanted = append(wanted, corev1.Taint{Key: execute, Effect: corev1.TaintEffectNoExecute, TimeAdded: &now})
	}
	out := []corev1.Taint{}
	for _, t := range n.Spec.Taints {
		if !ours(t) || slices.ContainsFunc(wanted, func(w corev1.Taint) bool { return w.MatchTaint(&t) }) {
			out = append(out, t)
		}
	}
	for _, w := range wanted {
		if !slices.ContainsFunc(out, func(t corev1.Taint) bool { return t.MatchTaint(&w) }) {
			out = append(out, w)
		}
	}
	return out
}
