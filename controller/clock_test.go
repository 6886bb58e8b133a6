package controller_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/controller"
)

// TestTimeThatLeaps checks that keys which became due during a suspension come at once after it, in the order of
// their times, each once, and that a key due in a year comes in a year.
func TestTimeThatLeaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		type call struct {
			name string
			at   time.Duration
		}
		var calls []call
		var c *controller.Controller
		c = controller.New("test", func(_ context.Context, k controller.Key) (controller.Result, error) {
			calls = append(calls, call{k.Name, time.Since(begun)})
			switch {
			case k.Name == "sleep":
				for n := range 100 { // due every minute, and requested once more for later
					key := controller.Key{Name: fmt.Sprint("due", 100+n)}
					c.EnqueueAfter(key, time.Duration(n)*time.Minute+time.Second)
					c.EnqueueAfter(key, 3*time.Hour)
				}
				time.Sleep(24 * time.Hour)
			case k.Name == "yearly" && len(calls) == 1:
				return controller.Result{RequeueAfter: 365 * 24 * time.Hour}, nil
			}
			return controller.Result{}, nil
		}, controller.Options{Workers: 1, Log: quiet()})
		c.Enqueue(controller.Key{Name: "yearly"})
		c.EnqueueAfter(controller.Key{Name: "sleep"}, time.Second)
		ctx, stop := context.WithTimeout(t.Context(), 400*24*time.Hour)
		defer stop()
		if err := c.Run(ctx); err != nil {
			t.Error(err)
		}
		const day = 24 * time.Hour
		want := []call{{"yearly", 0}, {"sleep", time.Second}}
		for n := range 100 {
			want = append(want, call{fmt.Sprint("due", 100+n), day + time.Second})
		}
		want = append(want, call{"yearly", 365 * day})
		if !slices.Equal(calls, want) {
			t.Errorf("called %v\nwant %v", calls, want)
		}
	})
}
