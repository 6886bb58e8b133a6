package main

import "testing"

func TestHeadroom(t *testing.T) {
	const mb = 1 << 20
	for live, want := range map[uint64]int{0: 100, 20 * mb: 100, 64 * mb: 100, 80 * mb: 80, 100 * mb: 60, 128 * mb: 50, 4096 * mb: 50} {
		if got := headroom(live); got != want {
			t.Errorf("%d MB: %d%%, want %d%%", live/mb, got, want)
		}
	}
}
