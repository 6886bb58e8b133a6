package main

import (
	"runtime"
	"testing"
)

func TestHeadroom(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		live       uint64
		busy, rest int
	}{
		{0, 1000, 100}, {20 * mb, 640, 100}, {64 * mb, 200, 100}, {80 * mb, 160, 80},
		{100 * mb, 125, 60}, {128 * mb, 100, 50}, {256 * mb, 50, 50}, {4096 * mb, 50, 50},
	} {
		if got := headroom(c.live, false); got != c.busy {
			t.Errorf("%d MB, busy: %d%%, want %d%%", c.live/mb, got, c.busy)
		}
		if got := headroom(c.live, true); got != c.rest {
			t.Errorf("%d MB, at rest: %d%%, want %d%%", c.live/mb, got, c.rest)
		}
	}
}

// A burst is noticed at its first collection, and not half a second later.
func TestEachCollectionSetsTheHeadroom(t *testing.T) {
	bell := make(chan struct{}, 1)
	ringAfterCollection(bell)
	for range 3 {
		runtime.GC()
		<-bell
	}
}
