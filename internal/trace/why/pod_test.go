package why_test

import (
	"slices"
	"strings"
	"testing"

	"fairlead.dev/internal/trace/show"
	"fairlead.dev/internal/trace/why"
	"fairlead.dev/trace"
)

// TestCrashLoop: the explanation of a container in back-off has its last exit.
func TestCrashLoop(t *testing.T) {
	pod := map[string]any{
		"metadata": map[string]any{"name": "web", "namespace": "default"},
		"spec":     map[string]any{"nodeName": "node-1"},
		"status": map[string]any{"phase": "Running", "containerStatuses": []any{map[string]any{
			"name": "c", "restartCount": float64(4),
			"state":     map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff", "message": "back-off 40s"}},
			"lastState": map[string]any{"terminated": map[string]any{"exitCode": float64(3), "reason": "Error"}},
		}}},
	}
	a := why.Explain(why.Subject{Kind: "Pod", Object: pod})
	for _, want := range []string{"container c waits: CrashLoopBackOff: back-off 40s", "container c last exited with code 3: Error; it was restarted 4 times"} {
		if !a.Waits || !slices.Contains(a.Reasons, want) {
			t.Errorf("no %q in %+v", want, a)
		}
	}
}

// TestKubeletStatus: the explanation of a status that a kubelet wrote has the probe's failure and the number of restarts, and
// does not expect a controller to act on it.
func TestKubeletStatus(t *testing.T) {
	status := func(c map[string]any) map[string]any {
		c["name"], c["ready"] = "c", false
		return map[string]any{
			"spec":   map[string]any{"nodeName": "n1"},
			"status": map[string]any{"phase": "Running", "containerStatuses": []any{c}},
		}
	}
	for name, c := range map[string]struct {
		subject why.Subject
		want    []string
	}{
		"a failed probe": {
			why.Subject{
				Object: status(map[string]any{"state": map[string]any{"running": map[string]any{}}}),
				Events: []why.Note{{Type: "Warning", Reason: "Unhealthy", Message: "Readiness probe failed: no file"}, {Reason: "Pulled", Message: "x"}},
			},
			[]string{"container c is running and not ready: Unhealthy: Readiness probe failed: no file"},
		},
		"between an exit and its back-off": {
			why.Subject{Object: status(map[string]any{"restartCount": float64(2), "state": map[string]any{"terminated": map[string]any{"exitCode": float64(137), "reason": "OOMKilled"}}})},
			[]string{"container c exited with code 137: OOMKilled; it was restarted 2 times"},
		},
	} {
		s := c.subject
		s.Kind, s.Lives = "Pod", []show.Event{{}}
		s.Lives[0].User = "system:node:n1"
		if a := why.Explain(s); !a.Waits || !slices.Equal(a.Reasons, c.want) {
			t.Errorf("%s: waits %v for %q, want %q", name, a.Waits, a.Reasons, c.want)
		}
	}
}

// TestHeldPod: the first reason of a pod that a fault holds back from the scheduler is the fault, until it is removed.
func TestHeldPod(t *testing.T) {
	scheduler := trace.Stream{ID: 7, User: "system:kube-scheduler"}
	created := show.Event{Waiting: []trace.Stream{scheduler}}
	created.Faults = []trace.InjectedFault{{Fault: 2, Action: "hold", What: "held back", Stream: &scheduler}}
	pod := why.Subject{Kind: "Pod", Object: map[string]any{"spec": map[string]any{"schedulerName": "default-scheduler"}, "status": map[string]any{"phase": "Pending"}}, Lives: []show.Event{created}}
	a := why.Explain(pod)
	if want := "default-scheduler has not reported a result: injected fault 2 holds the pod back from system:kube-scheduler"; a.Reasons[0] != want {
		t.Errorf("got %q, want %q", a.Reasons[0], want)
	}
	if c := a.Causes; len(c) != 1 || c[0].Next != "fairlead fault remove 2" {
		t.Errorf("causes %+v", c)
	}
	pod.Lives[0].Waiting = nil
	if a := why.Explain(pod); strings.Contains(a.Reasons[0], "injected fault") {
		t.Errorf("the fault is removed, and the reason is %q", a.Reasons[0])
	}
}
