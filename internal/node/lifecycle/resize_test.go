package lifecycle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/node/admission"
)

// TestResize gives a pod other resources while it runs, step by step: the parts of its status about
// them, how often its container was started, and how the resize stands.
func TestResize(t *testing.T) {
	cpu := func(q string) corev1.ResourceList { return corev1.ResourceList{"cpu": resource.MustParse(q)} }
	for _, tc := range []struct {
		name   string
		policy corev1.ResourceResizeRestartPolicy
		lacks  string
		want   []string
	}{
		{"in place", corev1.NotRequired, "", []string{"1/1 x0", "2/1 x0 PodResizeInProgress", "2/2 x0"}},
		{"by a restart", corev1.RestartContainer, "", []string{"1/1 x0", "2/1 x0 PodResizeInProgress", "2/2 x1"}},
		{"without room", corev1.NotRequired, "no room", []string{"1/1 x0", "1/1 x0 PodResizePending=Deferred: no room", "1/1 x0 PodResizePending=Deferred: no room"}},
	} {
		p := testPod(corev1.RestartPolicyAlways)
		c := &p.Spec.Containers[0]
		c.Resources.Requests = cpu("1")
		c.ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: "cpu", RestartPolicy: tc.policy}}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		sc := newScenario(p, nil, 0, time.Second)
		var got []string
		for i := range 3 {
			st := advance(p, sc, testHost, testIP, now, time.Time{})
			if i > 0 && st.next.IsZero() != (i == 2 && tc.lacks == "") {
				t.Errorf("%s: the next step is at %v", tc.name, st.next)
			}
			p.Status = *st.status
			s := p.Status.ContainerStatuses[0]
			text := fmt.Sprintf("%s/%s x%d", s.AllocatedResources.Cpu(), s.Resources.Requests.Cpu(), s.RestartCount)
			for _, c := range p.Status.Conditions {
				if strings.HasPrefix(string(c.Type), "PodResize") {
					text = strings.TrimSuffix(fmt.Sprintf("%s %s=%s: %s", text, c.Type, c.Reason, c.Message), "=: ")
				}
			}
			if got = append(got, text); i == 0 {
				if tc.lacks != "" {
					sc.admission = admission.Result{Reason: "OutOfcpu", Message: tc.lacks}
				}
				c.Resources.Requests = cpu("2")
				p.Generation++
			}
			if p.Status.ObservedGeneration < p.Generation && i > 0 {
				t.Errorf("%s: observed generation %d", tc.name, p.Status.ObservedGeneration)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestResizeInit: a sidecar, and an init container that runs, get the resources of the spec; an init container that has completed
// keeps those with which it ran.
func TestResizeInit(t *testing.T) {
	cpu := func(q string) corev1.ResourceList { return corev1.ResourceList{"cpu": resource.MustParse(q)} }
	p := testPod(corev1.RestartPolicyAlways)
	always := corev1.ContainerRestartPolicyAlways
	p.Spec.InitContainers = []corev1.Container{
		{Name: "done", Image: "a", Command: []string{"true"}}, {Name: "sidecar", Image: "a", RestartPolicy: &always}, {Name: "running", Image: "a", Command: []string{"sleep", "60"}},
	}
	for i := range p.Spec.InitContainers {
		p.Spec.InitContainers[i].Resources.Requests = cpu("1")
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	step := func() {
		st := advance(p, newScenario(p, nil, 0, time.Second), testHost, testIP, now, time.Time{})
		p.Status = *st.status
	}
	for range 8 {
		step()
	}
	state := func() (all string) {
		for _, s := range p.Status.InitContainerStatuses {
			all += fmt.Sprintf("%s %s/%s %t; ", s.Name, s.AllocatedResources.Cpu(), s.Resources.Requests.Cpu(), s.State.Running != nil)
		}
		return all
	}
	if got := state(); got != "done 1/1 false; sidecar 1/1 true; running 1/1 true; " {
		t.Fatal(got)
	}
	for i := range p.Spec.InitContainers {
		p.Spec.InitContainers[i].Resources.Requests = cpu("2")
	}
	p.Generation++
	step()
	if got := state(); got != "done 2/1 false; sidecar 2/1 true; running 2/1 true; " {
		t.Error(got)
	}
	step()
	if got := state(); got != "done 2/1 false; sidecar 2/2 true; running 2/2 true; " {
		t.Error(got)
	}
}
