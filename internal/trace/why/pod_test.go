package why_test

import (
	"slices"
	"testing"

	"fairlead.dev/internal/trace/why"
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
