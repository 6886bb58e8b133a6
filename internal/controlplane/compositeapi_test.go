package controlplane_test

import (
	"errors"
	"strings"
	"testing"

	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
)

// TestCompositeAPI uses CompositePodGroups by client-go, and templates of them.
func TestCompositeAPI(t *testing.T) {
	g := startGangsWith(t, 0, controlplane.Options{API: gangsAPI(t, "CompositePodGroup", "PodGroupPreemptionPolicy")})
	groups := g.SchedulingV1alpha3().CompositePodGroups("default")
	bad := &schedulingv1alpha3.CompositePodGroup{ObjectMeta: metav1.ObjectMeta{Name: "bad"}}
	bad.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{}
	_, err := groups.Create(g.ctx, bad, metav1.CreateOptions{})
	wantCauses(t, err, "spec.workloadRef: Required value", "spec.schedulingPolicy.gang.minGroupCount: Required value")

	g.class(t, "high", 7)
	good := bad.DeepCopy()
	good.Name = "good"
	good.Spec.PriorityClassName = "high"
	good.Spec.WorkloadRef = &schedulingv1alpha3.WorkloadReference{WorkloadName: "w", TemplateName: "t"}
	good.Spec.SchedulingPolicy.Gang.MinGroupCount = 2
	good.Spec.Priority = ptr.To(int32(8))
	if _, err := groups.Create(g.ctx, good, metav1.CreateOptions{}); !apierrors.IsForbidden(err) || !strings.HasSuffix(err.Error(), "priority set in the composite pod group (8) must match the priority computed (7) based on the priority class set in the spec") {
		t.Errorf("another priority than the class: %v", err)
	}
	good.Spec.Priority = nil
	made, err := groups.Create(g.ctx, good, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s := &made.Spec; ptr.Deref(s.Priority, 0) != 7 || s.DisruptionMode == nil || s.DisruptionMode.Single == nil || ptr.Deref(s.PreemptionPolicy, "") != schedulingv1alpha3.PreemptLowerPriority || len(made.Finalizers) > 0 {
		t.Errorf("defaults: %+v %v", made.Spec, made.Finalizers)
	}
	changed := made.DeepCopy()
	changed.Spec.SchedulingPolicy.Gang.MinGroupCount = 1
	_, err = groups.Update(g.ctx, changed, metav1.UpdateOptions{})
	wantCauses(t, err, "spec.schedulingPolicy: Invalid value: null: field is immutable")
	made.Status.Conditions = []metav1.Condition{{Type: "CompositePodGroupInitiallyScheduled", Status: metav1.ConditionTrue, Reason: "Scheduled", LastTransitionTime: metav1.Now()}}
	if made, err = groups.UpdateStatus(g.ctx, made, metav1.UpdateOptions{}); err != nil || len(made.Status.Conditions) != 1 {
		t.Errorf("the status is %+v, %v", made.Status, err)
	}

	pg := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "child"}}
	pg.Spec.SchedulingPolicy.Basic = &schedulingv1beta1.BasicSchedulingPolicy{}
	pg.Spec.ParentCompositePodGroupName = ptr.To("good")
	_, err = g.SchedulingV1beta1().PodGroups("default").Create(g.ctx, pg, metav1.CreateOptions{})
	wantCauses(t, err, "spec.workloadRef: Required value: must be set when parentCompositePodGroupName is set")

	w := &schedulingv1beta1.Workload{ObjectMeta: metav1.ObjectMeta{Name: "deep"}}
	inner := schedulingv1beta1.CompositePodGroupTemplate{Name: "d"}
	inner.SchedulingPolicy.Basic = &schedulingv1beta1.CompositeBasicSchedulingPolicy{}
	inner.PodGroupTemplates = []schedulingv1beta1.PodGroupTemplate{{Name: "p", SchedulingPolicy: pg.Spec.SchedulingPolicy}}
	for _, name := range []string{"c", "b", "a"} {
		inner = schedulingv1beta1.CompositePodGroupTemplate{Name: name, SchedulingPolicy: inner.SchedulingPolicy, CompositePodGroupTemplates: []schedulingv1beta1.CompositePodGroupTemplate{inner}}
	}
	w.Spec.CompositePodGroupTemplates = []schedulingv1beta1.CompositePodGroupTemplate{inner}
	_, err = g.SchedulingV1beta1().Workloads("default").Create(g.ctx, w, metav1.CreateOptions{})
	wantCauses(t, err, `spec.compositePodGroupTemplates[0]: Invalid value: [{"Name":"b","SchedulingPolicy":{"Basic":{},"Gang":null},"SchedulingConstraints":null,"DisruptionMode":null,`)
	w.Spec.CompositePodGroupTemplates = inner.CompositePodGroupTemplates
	if _, err := g.SchedulingV1beta1().Workloads("default").Create(g.ctx, w, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

// TestCompositeGateOff: without the gate there is neither the kind nor a group's parent.
func TestCompositeGateOff(t *testing.T) {
	g := startGangs(t, 0)
	if _, err := g.SchedulingV1alpha3().CompositePodGroups("default").List(g.ctx, metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the kind: %v", err)
	}
	pg := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "child"}}
	pg.Spec.SchedulingPolicy.Basic = &schedulingv1beta1.BasicSchedulingPolicy{}
	pg.Spec.ParentCompositePodGroupName = ptr.To("good")
	made, err := g.SchedulingV1beta1().PodGroups("default").Create(g.ctx, pg, metav1.CreateOptions{})
	if err != nil || made.Spec.ParentCompositePodGroupName != nil {
		t.Errorf("the group is %+v, %v", made.Spec, err)
	}
}

// wantCauses requires an error about an invalid object with these causes, each by its field and the beginning of its message.
func wantCauses(t *testing.T, err error, want ...string) {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Reason != metav1.StatusReasonInvalid || status.Status().Details == nil {
		t.Errorf("the error is %v, want causes %q", err, want)
		return
	}
	var got []string
	for _, c := range status.Status().Details.Causes {
		got = append(got, c.Field+": "+c.Message)
	}
	if len(got) != len(want) {
		t.Errorf("the causes are %q, want %q", got, want)
		return
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("the cause is %q, want %q", got[i], want[i])
		}
	}
}
