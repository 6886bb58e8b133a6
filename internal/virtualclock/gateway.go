package virtualclock

import (
	"context"
	"sync/atomic"
	"testing/synctest"
	"time"

	"fairlead.dev/internal/memnet"
)

const (
	// slice is how far the clock advances, at most, before the gateway looks for messages.
	slice = 10 * time.Minute
	// pause is how long, in real time, a client has to answer before the clock goes on.
	pause = 2 * time.Millisecond
	// patience is how many pauses the clock waits at one instant, at most.
	patience = 50
)

// event is a message to the gateway.
type event struct {
	conn    *conn
	open    bool     // the client has opened conn
	data    []byte   // the client has sent a chunk
	eof     bool     // the client has closed conn
	flushed bool     // the client's machine has taken the last chunk
	tick    bool     // a pause is over
	stop    bool     // the process is to end
	advance *advance // a request
}

// advance is a request to advance the clock by d, or until ctx ends.
type advance struct {
	ctx  context.Context
	d    time.Duration
	done chan struct{} // closed at the end
}

// gateway handles events, in one goroutine.
type gateway struct {
	clock     *Clock
	network   *memnet.Network
	stopped   bool
	unflushed atomic.Int32 // chunks that clients' machines have not taken
}

func (g *gateway) run() {
	for !g.stopped {
		g.handle(<-g.clock.events)
	}
	// Parts of the control plane may wait for timers to end.
	for {
		g.advance(&advance{ctx: context.Background(), d: slice, done: make(chan struct{})})
	}
}

func (g *gateway) handle(e event) {
	switch {
	case e.open:
		e.conn.in, e.conn.credit = make(chan []byte, 1), make(chan struct{}, 1)
		go e.conn.serve(g)
	case e.data != nil:
		e.conn.in <- e.data
	case e.eof:
		close(e.conn.in)
	case e.flushed:
		g.unflushed.Add(-1)
		e.conn.credit <- struct{}{}
	case e.stop:
		g.stopped = true
		g.clock.stop()
	case e.advance != nil && g.stopped:
		close(e.advance.done)
	case e.advance != nil:
		g.advance(e.advance)
	}
}

// advance lets the clock jump from timer to timer. It stops it at each instant at which bytes go to clients, and at the
// end of each slice.
func (g *gateway) advance(a *advance) {
	defer close(a.done)
	stopping := g.stopped
	for end := time.Now().Add(a.d); a.ctx.Err() == nil && g.stopped == stopping; {
		left := time.Until(end)
		if left <= 0 {
			break
		}
		due := time.NewTimer(min(slice, left))
		active := false
		select {
		case <-due.C:
		case <-g.clock.activity:
			active = true
		case <-a.ctx.Done():
		}
		due.Stop()
		if g.drain() || active {
			g.settle()
		}
	}
	synctest.Wait()
}

// drain handles the events that have come, and reports whether there were any.
func (g *gateway) drain() (any bool) {
	for {
		select {
		case e := <-g.clock.events:
			g.handle(e)
			any = true
		default:
			return any
		}
	}
}

// settle handles events until clients have had a pause without any.
func (g *gateway) settle() {
	for range patience {
		g.clock.outside <- func() {
			time.Sleep(pause)
			g.clock.events <- event{tick: true}
		}
		quiet := true
		for e := range g.clock.events {
			if e.tick {
				break
			}
			g.handle(e)
			quiet = false
		}
		select {
		case <-g.clock.activity:
			quiet = false
		default:
		}
		if quiet && g.unflushed.Load() == 0 {
			return
		}
	}
}

// active notes that bytes go to a client.
func (g *gateway) active() {
	select {
	case g.clock.activity <- struct{}{}:
	default:
	}
}
