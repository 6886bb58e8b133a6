package controlplane_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
)

const gatePolicy = "PodGroupPreemptionPolicy"

// TestGangPolicyScenarios plays the situations of kube-scheduler's integration tests in which pod groups have a policy.
func TestGangPolicyScenarios(t *testing.T) {
	playAll(t, []string{`
PodGroup with PreemptNever preemption policy does not perform preemption
	node n 3
	pod l1 prio=10
	pod l2 prio=10
	pod l3 prio=10
	scheduled l1 l2 l3
	group g 3 never
	pod a group=g never
	pod b group=g never
	pod c group=g never
	unschedulable a b c
	scheduled l1 l2 l3
`, `
PodGroup with PreemptLowerPriority preemption policy performs preemption
	node n 3
	pod l1 prio=10
	pod l2 prio=10
	pod l3 prio=10
	scheduled l1 l2 l3
	group g 3 preempts
	pod a group=g
	pod b group=g
	pod c group=g
	scheduled a b c
	removed l1 l2 l3
`, `
PodGroup with default preemption policy performs preemption
	node n 3
	pod l1 prio=10
	pod l2 prio=10
	pod l3 prio=10
	scheduled l1 l2 l3
	group g 3
	pod a group=g
	pod b group=g
	pod c group=g
	scheduled a b c
	removed l1 l2 l3
`}, gatePolicy)
}

// TestGangPolicyOfPods checks that a group reports pods whose policy is another than its own.
func TestGangPolicyOfPods(t *testing.T) {
	g := startGangsWith(t, 1, controlplane.Options{API: gangsAPI(t, gatePolicy), Controllers: []string{"nodelifecycle", "podgroupprotection"}})
	g.gang(t, "train", 1, "", false)
	never := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "never"}, PreemptionPolicy: ptr.To(corev1.PreemptNever)}
	if _, err := g.SchedulingV1().PriorityClasses().Create(g.ctx, never, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p := memberPod("first", "train", "1")
	p.Spec.PriorityClassName = "never"
	g.create(t, p)
	c := g.group(t, "train", metav1.ConditionFalse, schedulingv1beta1.PodGroupReasonSchedulerError)
	if want := "the same preemption policy as the pod group's preemption policy, got Never and PreemptLowerPriority"; !strings.Contains(c.Message, want) {
		t.Errorf("message %q, want %q", c.Message, want)
	}
}

// TestGangPolicyIsThatOfTheClass checks the policy of new groups with the gate and without it. The default policy is set before
// that of the class is known, so that a group of a class that never preempts has to say so itself.
func TestGangPolicyIsThatOfTheClass(t *testing.T) {
	lower, never := ptr.To(schedulingv1beta1.PreemptLowerPriority), ptr.To(schedulingv1beta1.PreemptNever)
	refused := "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod group spec; " +
		"priority admission controller computed Never from the given PriorityClass name"
	for _, x := range []struct {
		gates []string
		class string
		given *schedulingv1beta1.PreemptionPolicy
		want  string
	}{
		{[]string{gatePolicy}, "", nil, "PreemptLowerPriority"},
		{[]string{gatePolicy}, "", lower, "PreemptLowerPriority"},
		{[]string{gatePolicy}, "", never, "the string value of PreemptionPolicy (Never) must not be provided in pod group spec"},
		{[]string{gatePolicy}, "never", never, "Never"},
		{[]string{gatePolicy}, "never", lower, refused},
		{[]string{gatePolicy}, "never", nil, refused},
		{nil, "", nil, ""},
		{nil, "never", lower, ""},
	} {
		g := startGangsWith(t, 0, controlplane.Options{API: gangsAPI(t, x.gates...)})
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "never"}, PreemptionPolicy: ptr.To(corev1.PreemptNever)}
		if _, err := g.SchedulingV1().PriorityClasses().Create(g.ctx, class, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		pg := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "g"}, Spec: schedulingv1beta1.PodGroupSpec{
			PriorityClassName: x.class, PreemptionPolicy: x.given,
			SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}},
		}}
		made, err := g.SchedulingV1beta1().PodGroups("default").Create(g.ctx, pg, metav1.CreateOptions{})
		got := ""
		if err != nil {
			got = err.Error()
		} else if p := made.Spec.PreemptionPolicy; p != nil {
			got = string(*p)
		}
		if x.want == "" && got != "" || !strings.Contains(got, x.want) {
			t.Errorf("gates %v, class %q, policy %q: %q, want %q", x.gates, x.class, ptr.Deref(x.given, ""), got, x.want)
		}
	}
}
