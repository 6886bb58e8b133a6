package h2

import (
	"time"

	"golang.org/x/net/http2"
)

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
