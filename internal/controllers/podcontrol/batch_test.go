package podcontrol_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
)

func TestSlowStartStopsAfterTheBatchThatFails(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		count, failFrom int
		calls, done     int
	}{
		{0, 0, 0, 0},
		{10, 100, 10, 10}, // 1+2+4+3
		{10, 0, 1, 0},     // the first one fails alone
		{100, 3, 7, 3},    // 1+2, then all of 4 fail
		{100, 5, 7, 5},    // 1+2, then 2 of 4 fail
	} {
		var mu sync.Mutex
		var called []int
		done, err := podcontrol.SlowStart(c.count, func(i int) error {
			mu.Lock()
			defer mu.Unlock()
			called = append(called, i)
			if i >= c.failFrom {
				return boom
			}
			return nil
		})
		slices.Sort(called)
		if len(called) != c.calls || done != c.done || (err != nil) != (c.failFrom < c.count) {
			t.Errorf("%+v: calls %v, done %d, err %v", c, called, done, err)
		}
		for i, n := range called {
			if i != n {
				t.Errorf("%+v: called with %v", c, called)
				break
			}
		}
	}
}

func TestPaceServesTheFirstAtOnceAndTheRestTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := podcontrol.Pace{Every: 100 * time.Millisecond}
		k := controller.Key{Name: "a"}
		if d := p.Delay(k); d != 0 {
			t.Errorf("first: %v", d)
		}
		p.Mark(k)
		time.Sleep(30 * time.Millisecond)
		if d := p.Delay(k); d != 70*time.Millisecond {
			t.Errorf("30 ms later: %v", d)
		}
		time.Sleep(time.Second)
		if d := p.Delay(k); d != 0 {
			t.Errorf("after a quiet spell: %v", d)
		}
	})
}

func TestBackoffDoublesUpToItsMost(t *testing.T) {
	b := podcontrol.Backoff{First: time.Second, Max: 3 * time.Second}
	k := controller.Key{Name: "a"}
	for i, want := range []time.Duration{1, 2, 3, 3} {
		if d := b.Next(k); d != want*time.Second {
			t.Errorf("pause %d is %v", i, d)
		}
	}
	b.Forget(k)
	if d := b.Next(k); d != time.Second {
		t.Errorf("after Forget: %v", d)
	}
}
