package h2

import (
	"net"
	"time"

	"golang.org/x/net/http2"
)

// deadlineTimer is the connection's single timer. It is not reset for each write or request: it may fire early, find no
// deadline due, and be set for the next one.
type deadlineTimer struct {
	timer   *time.Timer
	at      time.Time // zero if not set
	stopped bool
	idle    time.Time // when the last stream ended; zero if there is a stream
	closing bool
}

func (t *deadlineTimer) stop() {
	t.stopped = true
	stop(t.timer)
}

// scheduleCheck schedules checkDeadlines for by at the latest.
func (c *conn) scheduleCheck(by time.Time) {
	t := &c.mu.timer
	if t.stopped || !t.at.IsZero() && !t.at.After(by) {
		return
	}
	t.at = by
	if t.timer == nil {
		t.timer = time.AfterFunc(time.Until(by), c.checkDeadlines)
		return
	}
	t.timer.Reset(time.Until(by))
}

// becomeIdle records that no stream is left.
func (c *conn) becomeIdle() {
	now := time.Now()
	c.mu.timer.idle = now
	if d := c.server.hs.IdleTimeout; d > 0 {
		c.scheduleCheck(now.Add(d))
	}
	if c.mu.goingAway && !c.mu.writing && c.mu.out == nil && c.mu.err == nil {
		c.closeGracefully()
	}
}

// checkDeadlines drops streams that have been stuck for too long, and closes an idle connection. If it runs late, this
// process was suspended for a while; the peers had no time to read then, and their deadlines start again.
func (c *conn) checkDeadlines() {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &c.mu.timer
	due := t.at
	t.at = time.Time{}
	if c.mu.err != nil || t.stopped {
		return
	}
	now, limit := time.Now(), c.server.timeout
	late := !due.IsZero() && now.Sub(due) > limit/10
	if !c.mu.writeStart.IsZero() {
		if late {
			c.mu.writeStart = now
		}
		if now.Sub(c.mu.writeStart) >= limit {
			c.mu.err = ErrStuck
			c.endStreams(ErrStuck)
			abort(c.nc)
			return
		}
		c.scheduleCheck(c.mu.writeStart.Add(limit))
	}
	for st := c.mu.stalled.first; st != nil; {
		next := st.next
		if late {
			st.stalledSince = now
		}
		if now.Sub(st.stalledSince) >= limit {
			c.reset(st, http2.ErrCodeInternal, ErrStuck)
		} else {
			c.scheduleCheck(st.stalledSince.Add(limit))
		}
		st = next
	}
	if w := &c.mu.spare; len(w.idle) > 0 {
		if w.used {
			w.used = false
			c.scheduleCheck(now.Add(spareLife))
		} else {
			w.stopAll()
		}
	}
	if d := c.server.hs.IdleTimeout; d > 0 && len(c.mu.streams) == 0 && !c.mu.goingAway {
		if now.Sub(t.idle) >= d {
			c.sendGoAway()
		} else {
			c.scheduleCheck(t.idle.Add(d))
		}
	}
}

// abort closes a connection whose write is blocked. Closing a tls.Conn would wait for the write.
func abort(nc net.Conn) {
	if under, ok := nc.(interface{ NetConn() net.Conn }); ok {
		nc = under.NetConn()
	}
	nc.Close()
}

// closeGracefully ends a connection that has no work left: it closes the write side and gives the peer a moment to close
// its own.
func (c *conn) closeGracefully() {
	if c.mu.timer.closing {
		return
	}
	c.mu.timer.closing = true
	go func() {
		if half, ok := c.nc.(interface{ CloseWrite() error }); ok {
			half.CloseWrite()
		}
		c.nc.SetReadDeadline(time.Now().Add(lingerTimeout))
	}()
}
