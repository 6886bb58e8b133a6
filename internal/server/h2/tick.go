package h2

import (
	"net"
	"time"

	"golang.org/x/net/http2"
)

// tick is the connection's one timer. It is not set anew for each write or
// request: it may go off early, finds that nothing is the matter, and is set for
// what is due next.
type tick struct {
	timer *time.Timer
	at    time.Time // zero if it is not set
	over  bool
	idle  time.Time // since when there is no stream; zero if there is one
	bye   bool
}

func (t *tick) stop() {
	t.over = true
	stop(t.timer)
}

// due has the connection looked at by then.
func (c *conn) due(by time.Time) {
	t := &c.mu.tick
	if t.over || !t.at.IsZero() && !t.at.After(by) {
		return
	}
	t.at = by
	if t.timer == nil {
		t.timer = time.AfterFunc(time.Until(by), c.look)
		return
	}
	t.timer.Reset(time.Until(by))
}

// idle notes that no stream is left.
func (c *conn) idle() {
	now := time.Now()
	c.mu.tick.idle = now
	if d := c.server.hs.IdleTimeout; d > 0 {
		c.due(now.Add(d))
	}
	if c.mu.leaving && !c.mu.writing && c.mu.out == nil && c.mu.err == nil {
		c.partEasily()
	}
}

// look drops what has been stuck for too long, and says farewell to one who
// asks for nothing. If it comes late this process was not run for a while (the machine
// slept, or was stalled): then peers had no time to read in, and are given it anew.
func (c *conn) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &c.mu.tick
	due := t.at
	t.at = time.Time{}
	if c.mu.err != nil || t.over {
		return
	}
	now, limit := time.Now(), c.server.timeout
	late := !due.IsZero() && now.Sub(due) > limit/10
	if !c.mu.since.IsZero() {
		if late {
			c.mu.since = now
		}
		if now.Sub(c.mu.since) >= limit {
			c.mu.err = ErrStuck
			c.endStreams(ErrStuck)
			abort(c.nc)
			return
		}
		c.due(c.mu.since.Add(limit))
	}
	for st := c.mu.stalled.first; st != nil; {
		next := st.next
		if late {
			st.stuck = now
		}
		if now.Sub(st.stuck) >= limit {
			c.reset(st, http2.ErrCodeInternal, ErrStuck)
		} else {
			c.due(st.stuck.Add(limit))
		}
		st = next
	}
	if w := &c.mu.spare; len(w.idle) > 0 {
		if w.used {
			w.used = false
			c.due(now.Add(spareLife))
		} else {
			w.dismiss()
		}
	}
	if d := c.server.hs.IdleTimeout; d > 0 && len(c.mu.streams) == 0 && !c.mu.leaving {
		if now.Sub(t.idle) >= d {
			c.leave()
		} else {
			c.due(t.idle.Add(d))
		}
	}
}

// abort closes a connection that does not take what is written. Close of a
// tls.Conn would wait for it.
func abort(nc net.Conn) {
	if under, ok := nc.(interface{ NetConn() net.Conn }); ok {
		nc = under.NetConn()
	}
	nc.Close()
}

// partEasily ends a connection that has nothing left to do: the peer is told
// that no more will come, and has a moment to go.
func (c *conn) partEasily() {
	if c.mu.tick.bye {
		return
	}
	c.mu.tick.bye = true
	go func() {
		if half, ok := c.nc.(interface{ CloseWrite() error }); ok {
			half.CloseWrite()
		}
		c.nc.SetReadDeadline(time.Now().Add(farewell))
	}()
}
