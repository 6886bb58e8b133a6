package virtualclock

import (
	"context"
	"flag"
	"testing"
	"testing/synctest"
	"time"
)

// Run runs body in a bubble whose clock begins at the real time and stands still from Clock.Serve on. It returns the error
// of body. The context of body ends after ctx does, once body has called Serve; from then on the clock is not stopped. A
// process can call Run once. Goroutines that body leaves behind stay until the process ends.
func Run(ctx context.Context, body func(ctx context.Context, c *Clock) error) error {
	c := newClock()
	result := make(chan error)
	go func() {
		for f := range c.outside {
			go f()
		}
	}()
	go func() {
		<-ctx.Done()
		c.events <- event{stop: true}
	}()
	bubble := func(*testing.T) {
		time.Sleep(time.Until(c.Real()))
		inside, stop := context.WithCancel(context.Background())
		c.stop, c.activity = stop, make(chan struct{}, 1)
		result <- body(inside, c)
		<-result // the bubble does not end before the process
	}
	// Only a *testing.T opens a bubble, and only testing.Main makes one. It reads its flags from the flag set of package
	// flag, which this program does not use otherwise.
	testing.Init()
	if err := flag.CommandLine.Parse(nil); err != nil {
		return err
	}
	all := func(string, string) (bool, error) { return true, nil }
	go testing.Main(all, []testing.InternalTest{{Name: "virtual clock", F: func(t *testing.T) { synctest.Test(t, bubble) }}}, nil, nil)
	return <-result
}
