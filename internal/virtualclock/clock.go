package virtualclock

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"fairlead.dev/internal/connections"
	"fairlead.dev/internal/memnet"
)

// ErrBusy is returned for an advance during another one.
var ErrBusy = errors.New("the clock is already being advanced")

// Clock is the clock of a bubble. Its time is time.Now in the bubble.
type Clock struct {
	// These channels are made outside of the bubble: a goroutine that waits for one of them stops the clock.
	events  chan event
	outside chan func() // runs functions outside of the bubble
	answer  chan time.Time

	// These belong to the bubble.
	activity  chan struct{} // has a value after bytes went to a client
	stop      func()        // ends the context of Run's body
	advancing sync.Mutex
}

func newClock() *Clock {
	return &Clock{events: make(chan event), outside: make(chan func()), answer: make(chan time.Time)}
}

// Real returns the real time, without a monotonic reading.
func (c *Clock) Real() time.Time {
	c.outside <- func() { c.answer <- time.Now().Round(0) }
	return <-c.answer
}

// Advance moves the clock forward by d, and returns when all goroutines have done the work of that time. Once ctx ends,
// it stops the clock earlier, without an error. It returns ErrBusy during another call. Serve has been called before.
func (c *Clock) Advance(ctx context.Context, d time.Duration) error {
	if !c.advancing.TryLock() {
		return ErrBusy
	}
	defer c.advancing.Unlock()
	a := &advance{ctx: ctx, d: d, done: make(chan struct{})}
	c.send(event{advance: a})
	<-a.done
	return nil
}

// Release lets the clock run from now on, and ends the context of Run's body. Parts that end may wait for timers.
func (c *Clock) Release() { c.send(event{stop: true}) }

// send sends an event of the bubble from outside of it. A goroutine of the bubble that waited for the gateway to take it
// would keep the clock from moving, and the gateway may be waiting for that.
func (c *Clock) send(e event) {
	c.outside <- func() { c.events <- e }
}

// Serve stops the clock, and passes the connections of each listener on to the listener of the same address in the network,
// until the process ends.
func (c *Clock) Serve(n *memnet.Network, listeners ...net.Listener) {
	go (&gateway{clock: c, network: n}).run()
	for _, l := range listeners {
		l = connections.Patient(l, slog.Default())
		c.outside <- func() {
			for {
				outer, err := l.Accept()
				if err != nil {
					return
				}
				go newConn(outer, l.Addr().String()).accept(c.events)
			}
		}
	}
}
