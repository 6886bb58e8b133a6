package job

import (
	"reflect"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestWorkloadNames: the hashes are those of kube-controller-manager 1.37.
func TestWorkloadNames(t *testing.T) {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "train", UID: types.UID("0b3c8a3e-7d9f-4a51-9c1e-2f6d5b7a8c90")}}
	if got, want := workloadName(j), "train-6d7d794f46"; got != want {
		t.Errorf("workload %s, want %s", got, want)
	}
	if got, want := groupName("train-abc", "train-pgt-0"), "train-abc-train-pgt-0-66cc9f69d5"; got != want {
		t.Errorf("group %s, want %s", got, want)
	}
	j.Name = strings.Repeat("a", 253)
	if got := workloadName(j); len(got) != 253 || !strings.HasSuffix(got, "-6d7d794f46") {
		t.Errorf("workload %s", got)
	}
	for _, c := range []struct{ workload, template, keptOfWorkload, keptOfTemplate int }{
		{120, 120, 120, 120}, {3, 250, 3, -1}, {250, 3, -1, 3}, {200, 200, -1, -1},
	} {
		got := groupName(strings.Repeat("w", c.workload), strings.Repeat("t", c.template))
		names := got[:strings.LastIndexByte(got, '-')]
		w, tpl := strings.Count(names, "w"), strings.Count(names, "t")
		if len(got) > 253 || w == 0 || tpl == 0 || c.keptOfWorkload > 0 && w != c.keptOfWorkload || c.keptOfTemplate > 0 && tpl != c.keptOfTemplate {
			t.Errorf("of %d and %d bytes: %d of the workload and %d of the template in %s", c.workload, c.template, w, tpl, got)
		}
	}
}

func TestTemplateOf(t *testing.T) {
	type (
		job      = batchv1.JobSchedulingConfiguration
		policy   = schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy
		template = schedulingv1beta1.PodGroupTemplate
	)
	gangOf := func(n int32) schedulingv1beta1.PodGroupSchedulingPolicy {
		return schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: n}}
	}
	basic := schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}
	anyGang := &policy{Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{}}
	name, three := "gpus", int32(3)
	for what, c := range map[string]struct {
		parallelism int32
		job         *job
		want        template
	}{
		"nothing":       {4, nil, template{SchedulingPolicy: basic}},
		"empty":         {4, &job{}, template{SchedulingPolicy: basic}},
		"basic":         {4, &job{SchedulingPolicy: &policy{Basic: &schedulingv1alpha3.WorkloadPodGroupBasicSchedulingPolicy{}}}, template{SchedulingPolicy: basic}},
		"gang":          {4, &job{SchedulingPolicy: anyGang}, template{SchedulingPolicy: gangOf(4)}},
		"gang of none":  {0, &job{SchedulingPolicy: anyGang}, template{SchedulingPolicy: gangOf(1)}},
		"smaller gang":  {4, &job{SchedulingPolicy: &policy{Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{MinCount: &three}}}, template{SchedulingPolicy: gangOf(3)}},
		"single":        {4, &job{DisruptionMode: &schedulingv1alpha3.WorkloadPodGroupDisruptionMode{Single: &schedulingv1alpha3.WorkloadPodGroupSingleDisruptionMode{}}}, template{SchedulingPolicy: basic, DisruptionMode: &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}}},
		"no constraint": {4, &job{SchedulingConstraints: &schedulingv1alpha3.WorkloadPodGroupSchedulingConstraints{}}, template{SchedulingPolicy: basic}},
		"all": {4, &job{
			SchedulingPolicy:      anyGang,
			SchedulingConstraints: &schedulingv1alpha3.WorkloadPodGroupSchedulingConstraints{Topology: []schedulingv1alpha3.TopologyConstraint{{Key: "rack"}}},
			DisruptionMode:        &schedulingv1alpha3.WorkloadPodGroupDisruptionMode{All: &schedulingv1alpha3.WorkloadPodGroupAllDisruptionMode{}},
			ResourceClaims:        []schedulingv1alpha3.WorkloadPodGroupResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &name}, {Name: "nic", ResourceClaimName: &name}},
		}, template{
			SchedulingPolicy:      gangOf(4),
			SchedulingConstraints: &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: []schedulingv1beta1.TopologyConstraint{{Key: "rack"}}},
			DisruptionMode:        &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}},
			ResourceClaims:        []schedulingv1beta1.PodGroupResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &name}, {Name: "nic", ResourceClaimName: &name}},
		}},
	} {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "train"}, Spec: batchv1.JobSpec{Parallelism: &c.parallelism, Scheduling: c.job}}
		j.Spec.Template.Spec.PriorityClassName = "high"
		c.want.Name, c.want.PriorityClassName = "train-pgt-0", "high"
		if got := templateOf(j); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
	}
}

func TestIsNew(t *testing.T) {
	now := metav1.Now()
	for what, c := range map[string]struct {
		status batchv1.JobStatus
		pods   int
		want   bool
	}{
		"new":           {want: true},
		"with a pod":    {pods: 1},
		"started":       {status: batchv1.JobStatus{StartTime: &now}},
		"succeeded":     {status: batchv1.JobStatus{Succeeded: 1}},
		"failed":        {status: batchv1.JobStatus{Failed: 1}},
		"was suspended": {status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionFalse}}}},
	} {
		if got := isNew(&batchv1.Job{Status: c.status}, make([]*corev1.Pod, c.pods)); got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}
