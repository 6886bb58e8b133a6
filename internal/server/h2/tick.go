package h2

import (
	"net"
	"time"

	"golang.org/x/net/http2"
)

// tick is the connection's single timer. It is not reset for each write or request: it may fire early, find no
// deadline due, and be set for the next one.
type tick struct {
	timer   *time.Timer
	at      time.Time // zero if not set
	over    bool
	idle    time.Time // when the last stream ended; zero if there is a stream
	closing bool
}

func (t *tick) stop() {
	t.over = true
	stop(t.timer)
}

// due schedules checkDeadlines for by at the latest.
func (c *conn) due(by time.Time) {
	t := &c.mu.tick
	if t.over || !t.at.IsZero() && !t.at.After(by) {
		return
	}
	t.at = by
	if t.timer == nil {
		t.timer = time.AfterFunc(time.Until(by), c.checkDeadlines)
		return
	}
	t.timer.Reset(time.Until(by))
}

// idle records that no stream is left.
func (c *conn) idle() {
	now := time.Now()
	c.mu.tick.idle = now
	if d := c.server.hs.IdleTimeout; d > 0 {
		c.due(now.Add(d))
	}
	if c.mu.leaving && !c.mu.writing && c.mu.out == nil && c.mu.err == nil {
		c.closeGracefully()
	}
}

// checkDeadlines drops streams that have been stuck for too long, and closes an idle connection. If it runs late, this
// process was suspended for a while; the peers had no time to read then, and their deadlines start again.
func (c *conn) checkDeadlines() {
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
	if c.mu.tick.closing {
		return
	}
	c.mu.tick.closing = true
	go func() {
		if half, ok := c.nc.(interface{ CloseWrite() error }); ok {
			half.CloseWrite()
		}
		c.nc.SetReadDeadline(time.Now().Add(lingerTimeout))
	}()
}
