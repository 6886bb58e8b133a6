package nodelifecycle

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestReconcileTaints(t *testing.T) {
	node := func(ready corev1.ConditionStatus, taints ...string) *corev1.Node {
		n := &corev1.Node{}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
		for i := 0; i < len(taints); i += 2 {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: taints[i], Effect: corev1.TaintEffect(taints[i+1])})
		}
		return n
	}
	const notReady, gone = corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable
	for _, c := range []struct {
		name     string
		node     *corev1.Node
		anyReady bool
		want     []string
	}{
		{"ready", node(corev1.ConditionTrue), true, nil},
		{"recovered", node(corev1.ConditionTrue, gone, "NoSchedule", "mine", "NoExecute", gone, "NoExecute"), true, []string{"mine:NoExecute"}},
		{"not ready", node(corev1.ConditionFalse), true, []string{notReady + ":NoSchedule", notReady + ":NoExecute"}},
		{"silent", node(corev1.ConditionUnknown, notReady, "NoExecute"), true, []string{gone + ":NoSchedule", gone + ":NoExecute"}},
		{"all are silent", node(corev1.ConditionUnknown, gone, "NoExecute"), false, []string{gone + ":NoSchedule"}},
	} {
		var got []string
		for _, x := range reconcileTaints(c.node, c.anyReady) {
			got = append(got, x.Key+":"+string(x.Effect))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
