package daemonset

import (
	"testing"
	"time"

	"fairlead.dev/controller"
)

// A node's failed pods are replaced with exponential backoff, until the set is changed.
func TestPausesBetweenFailedPods(t *testing.T) {
	var f failures
	k, now := controller.Key{Namespace: "default", Name: "agent"}, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	wait := func(generation int64, node string, want time.Duration) {
		t.Helper()
		if got := f.wait(k, generation, node, now); got != want {
			t.Errorf("generation %d on %s: wait %v, want %v", generation, node, got, want)
		}
	}
	wait(1, "a", 0)
	wait(1, "a", time.Second)
	wait(1, "b", 0)
	now = now.Add(time.Second)
	wait(1, "a", 0)
	wait(1, "a", 2*time.Second)
	for range 20 {
		now = now.Add(maxPause)
		wait(1, "a", 0)
	}
	wait(1, "a", maxPause)
	wait(2, "a", 0)
	wait(2, "a", time.Second)
	f.forget(k)
	wait(2, "a", 0)
}
