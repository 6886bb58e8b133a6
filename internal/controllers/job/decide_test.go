package job

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestIntervals(t *testing.T) {
	for _, c := range []struct {
		add  []int
		to   string
		want string
	}{
		{nil, "", ""},
		{[]int{3}, "", "3"},
		{[]int{4}, "3", "3,4"},
		{[]int{5}, "3,4", "3-5"},
		{[]int{9, 0}, "3-5", "0,3-5,9"},
		{[]int{6, 7, 8}, "3-5,9", "3-9"},
		{[]int{4}, "3-5", "3-5"},
	} {
		s := parseIntervals(c.to, 100).with(c.add...)
		if got := s.String(); got != c.want {
			t.Errorf("%q and %v: %q, want %q", c.to, c.add, got, c.want)
		}
		if back := parseIntervals(s.String(), 100); !slices.Equal(back, s) {
			t.Errorf("%q reads back as %v", s, back)
		}
	}
	if s := parseIntervals("0-4,x,7-20,30", 10).String(); s != "0-4,7-9" {
		t.Errorf("cut to 10: %q", s)
	}
	s := parseIntervals("1-3,6", 10)
	for n, want := range []bool{false, true, true, true, false, false, true, false} {
		if s.has(n) != want {
			t.Errorf("has %d: %v", n, !want)
		}
	}
	if got := s.missing(4, 10); !slices.Equal(got, []int{0, 4, 5, 7}) {
		t.Errorf("missing: %v", got)
	}
	if n := s.common(parseIntervals("0-1,3-6", 10)); n != 3 {
		t.Errorf("common: %d", n)
	}
}

var now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func ended(name string, phase corev1.PodPhase, ago time.Duration) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Finalizers: []string{batchv1.JobTrackingFinalizer}},
		Status: corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(now.Add(-ago)), ExitCode: 1}},
		}}},
	}
}

func TestPauseAfterFailures(t *testing.T) {
	bad := func(ago time.Duration) *corev1.Pod { return ended("b", corev1.PodFailed, ago) }
	good := func(ago time.Duration) *corev1.Pod { return ended("g", corev1.PodSucceeded, ago) }
	type pods = []*corev1.Pod
	for _, c := range []struct {
		name      string
		row       failures
		good, bad pods
		pause     time.Duration
	}{
		{"none", failures{}, nil, nil, 0},
		{"one just now", failures{}, nil, pods{bad(0)}, 10 * time.Second},
		{"one a while ago", failures{}, nil, pods{bad(4 * time.Second)}, 6 * time.Second},
		{"third in a row", failures{count: 2, last: now.Add(-time.Minute)}, nil, pods{bad(0)}, 40 * time.Second},
		{"success ends the row", failures{count: 5, last: now}, pods{good(0)}, nil, 0},
		{"failure after the success", failures{count: 5, last: now}, pods{good(8 * time.Second)}, pods{bad(3 * time.Second), bad(9 * time.Second)}, 7 * time.Second},
		{"never more than ten minutes", failures{count: 40, last: now}, nil, nil, 10 * time.Minute},
	} {
		if d := c.row.after(c.good, c.bad).pause(now); d != c.pause {
			t.Errorf("%s: %v, want %v", c.name, d, c.pause)
		}
	}
}

func TestSidecarsEndLast(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	p := ended("p", corev1.PodFailed, time.Minute)
	p.Spec.InitContainers = []corev1.Container{{Name: "prepare"}, {Name: "sidecar", RestartPolicy: &always}}
	finished := func(name string, ago time.Duration) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(now.Add(-ago))}}}
	}
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{finished("prepare", 0), finished("sidecar", 10*time.Second)}
	if ago := now.Sub(endOf(p)); ago != 10*time.Second {
		t.Errorf("ended %v ago", ago)
	}
}

func TestWantedPods(t *testing.T) {
	num := func(n int32) *int32 { return &n }
	for _, c := range []struct {
		name                     string
		completions, parallelism *int32
		succeeded, running, want int32
	}{
		{"as many as at once", num(9), num(3), 0, 0, 3},
		{"as many as are left", num(9), num(3), 7, 2, 2},
		{"none when all is done", num(9), num(3), 10, 0, 0},
		{"of a queue", nil, num(3), 0, 1, 3},
		{"of a queue with fewer at once", nil, num(1), 0, 3, 1},
		{"of a queue that is empty: who is at work", nil, num(3), 1, 2, 2},
		{"of an empty queue with fewer at once: who is at work", nil, num(1), 1, 2, 2},
	} {
		p := &pass{job: &batchv1.Job{Spec: batchv1.JobSpec{Completions: c.completions, Parallelism: c.parallelism}}, succeeded: c.succeeded, running: c.running}
		if got := p.wanted(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestFailurePolicy(t *testing.T) {
	name := "main"
	j := &batchv1.Job{Spec: batchv1.JobSpec{PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}},
		{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: &name, Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}}},
		{Action: batchv1.PodFailurePolicyActionFailIndex, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpNotIn, Values: []int32{1, 2}}},
	}}}}
	pod := func(container string, code int32, disrupted bool) *corev1.Pod {
		p := ended("p", corev1.PodFailed, 0)
		p.Namespace = "ns"
		p.Status.ContainerStatuses[0].Name = container
		p.Status.ContainerStatuses[0].State.Terminated.ExitCode = code
		if disrupted {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
		}
		return p
	}
	for _, c := range []struct {
		pod  *corev1.Pod
		want verdict
	}{
		{pod("main", 42, true), verdict{}},
		{pod("main", 42, false), verdict{counts: true, failJob: "Container main for pod ns/p failed with exit code 42 matching FailJob rule at index 1"}},
		{pod("side", 42, false), verdict{counts: true, failIndex: true}},
		{pod("main", 2, false), verdict{counts: true}},
		{pod("main", 0, false), verdict{counts: true}},
	} {
		if got := judge(j, c.pod); got != c.want {
			t.Errorf("%+v: got %+v", c.pod.Status, got)
		}
	}
}

func TestSuccessPolicy(t *testing.T) {
	text := func(s string) *string { return &s }
	num := func(n int32) *int32 { return &n }
	for _, c := range []struct {
		rule batchv1.SuccessPolicyRule
		done string
		met  bool
	}{
		{batchv1.SuccessPolicyRule{SucceededIndexes: text("0,2-3")}, "0,2", false},
		{batchv1.SuccessPolicyRule{SucceededIndexes: text("0,2-3")}, "0-3", true},
		{batchv1.SuccessPolicyRule{SucceededIndexes: text("0,2-3"), SucceededCount: num(2)}, "2-4", true},
		{batchv1.SuccessPolicyRule{SucceededCount: num(2)}, "4", false},
		{batchv1.SuccessPolicyRule{SucceededCount: num(2)}, "4,9", true},
	} {
		n := int32(10)
		j := &batchv1.Job{Spec: batchv1.JobSpec{Completions: &n, SuccessPolicy: &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{c.rule}}}}
		why, met := enough(j, parseIntervals(c.done, 10))
		if met != c.met || met && why != "Matched rules at index 0" {
			t.Errorf("%+v with %s: %v %q", c.rule, c.done, met, why)
		}
	}
}

func TestUncountedAreCountedOnceTheFinalizerIsGone(t *testing.T) {
	s := &batchv1.JobStatus{Succeeded: 1, Failed: 2, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{
		Succeeded: []types.UID{"a", "b"}, Failed: []types.UID{"c"},
	}}
	settleUncounted(s, map[types.UID]struct{}{"b": {}})
	u := s.UncountedTerminatedPods
	if s.Succeeded != 2 || s.Failed != 3 || !slices.Equal(u.Succeeded, []types.UID{"b"}) || len(u.Failed) != 0 {
		t.Errorf("%+v %+v", s, u)
	}
}
