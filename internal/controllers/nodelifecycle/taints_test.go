package nodelifecycle

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// node returns a node with conditions ("Ready", "True", ...).
func node(name string, conditions ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for i := 0; i < len(conditions); i += 2 {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{
			Type: corev1.NodeConditionType(conditions[i]), Status: corev1.ConditionStatus(conditions[i+1]),
		})
	}
	return n
}

// tainted gives a node taints ("key", "effect", ...) that were set long ago.
func tainted(n *corev1.Node, taints ...string) *corev1.Node {
	long := metav1.NewTime(time.Unix(1000, 0))
	for i := 0; i < len(taints); i += 2 {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: taints[i], Effect: corev1.TaintEffect(taints[i+1]), TimeAdded: &long})
	}
	return n
}

func TestTaintsFollowTheNodesState(t *testing.T) {
	const prefix = "node.kubernetes.io/"
	cordoned := node("n", "Ready", "True")
	cordoned.Spec.Unschedulable = true
	for _, c := range []struct {
		name    string
		node    *corev1.Node
		execute bool
		want    []string // with a * for new timestamps
	}{
		{"ready", node("n", "Ready", "True"), true, nil},
		{"new and ready", tainted(node("n", "Ready", "True"), prefix+"not-ready", "NoSchedule"), true, nil},
		{"recovered", tainted(node("n", "Ready", "True"), prefix+"unreachable", "NoSchedule", "mine", "NoExecute", prefix+"unreachable", "NoExecute"), true,
			[]string{"mine:NoExecute"}},
		{"not ready", node("n", "Ready", "False"), true, []string{prefix + "not-ready:NoSchedule*", prefix + "not-ready:NoExecute*"}},
		{"not its turn", node("n", "Ready", "False"), false, []string{prefix + "not-ready:NoSchedule*"}},
		{"not ready for long", tainted(node("n", "Ready", "False"), prefix+"not-ready", "NoExecute"), true,
			[]string{prefix + "not-ready:NoExecute", prefix + "not-ready:NoSchedule*"}},
		{"silent now", tainted(node("n", "Ready", "Unknown"), prefix+"not-ready", "NoExecute"), true,
			[]string{prefix + "unreachable:NoSchedule*", prefix + "unreachable:NoExecute*"}},
		{"nobody is ready", tainted(node("n", "Ready", "Unknown"), prefix+"unreachable", "NoExecute"), false,
			[]string{prefix + "unreachable:NoSchedule*"}},
		{"under pressure", node("n", "Ready", "True", "MemoryPressure", "True", "DiskPressure", "True", "PIDPressure", "True", "NetworkUnavailable", "True"), true,
			[]string{prefix + "memory-pressure:NoSchedule*", prefix + "disk-pressure:NoSchedule*", prefix + "pid-pressure:NoSchedule*", prefix + "network-unavailable:NoSchedule*"}},
		{"pressure not known", node("n", "Ready", "True", "MemoryPressure", "Unknown"), true, nil},
		{"cordoned", cordoned, true, []string{prefix + "unschedulable:NoSchedule*"}},
		{"others' effects stay", tainted(node("n", "Ready", "True"), prefix+"memory-pressure", "NoExecute", prefix+"not-ready", "PreferNoSchedule"), true,
			[]string{prefix + "memory-pressure:NoExecute", prefix + "not-ready:PreferNoSchedule"}},
	} {
		key := ""
		if c.execute {
			key = executeTaint(c.node)
		}
		now := metav1.Now()
		var got []string
		for _, x := range withTaints(c.node, key, now) {
			s := x.Key + ":" + string(x.Effect)
			if x.TimeAdded.Equal(&now) {
				s += "*"
			}
			got = append(got, s)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestUnknownSaysSoOnce(t *testing.T) {
	n := node("n", "Ready", "True", "MemoryPressure", "False", "NetworkUnavailable", "False")
	n.Status.Conditions[0].Reason = "KubeletReady"
	u := unknown(n, metav1.Now())
	for typ, want := range map[corev1.NodeConditionType]string{
		"Ready": "NodeStatusUnknown", "MemoryPressure": "NodeStatusUnknown",
		"DiskPressure": "NodeStatusNeverUpdated", "PIDPressure": "NodeStatusNeverUpdated",
	} {
		if c := nodeCondition(u, typ); c.Status != corev1.ConditionUnknown || c.Reason != want {
			t.Errorf("%s is %s, %s; want Unknown, %s", typ, c.Status, c.Reason, want)
		}
	}
	if c := nodeCondition(u, corev1.NodeNetworkUnavailable); c.Status != corev1.ConditionFalse {
		t.Error("the network is not the kubelet's to tell")
	}
	if n.Status.Conditions[0].Reason != "KubeletReady" {
		t.Error("the shared object was changed")
	}
	if unknown(u, metav1.Now()) != nil {
		t.Error("said twice")
	}
}
