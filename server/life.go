package server

import (
	"strings"
	"sync/atomic"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// pass stamps the call on its way to the store.
func (c *call) pass(h trace.Hop) {
	if l := c.s.cfg.Trace; l != nil {
		c.passed[h] = l.Now()
	}
}

// queue stamps the call as it goes to the store. What is written by another way than
// most, a binding say, has been admitted by then as well.
func (c *call) queue() {
	c.pass(trace.Queued)
	if c.passed[trace.Admitted] == 0 {
		c.passed[trace.Admitted] = c.passed[trace.Queued]
	}
}

// wrote tells the trace which event the call has made.
func (c *call) wrote(rev storage.Revision) {
	l := c.s.cfg.Trace
	if l == nil {
		return
	}
	for _, one := range c.strikes {
		one.Revision = int64(rev)
		l.Struck(one)
	}
	c.strikes = nil
	c.passed[trace.Received] = l.At(c.start)
	agent, _, _ := strings.Cut(c.req.UserAgent(), " ")
	l.Wrote(int64(rev), &trace.Write{
		Verb: c.info.verb, Subresource: c.info.subresource,
		User: userName(c.user), Agent: agent,
		Parent: trace.ParseParent(c.req.Header),
		At:     c.passed,
	})
}

// way is what the trace knows of a stream. It belongs to who runs the stream, but for
// reached.
type way struct {
	to *trace.Stream // nil if nobody asks
	// reached is the revision of the last event that has been shown.
	reached atomic.Int64
	// sent are the deliveries that have not been written yet.
	sent []uint64
}

// shown is what a stream shows in one turn.
type shown struct {
	revs [trace.DeliveryEvents]int64
	n    int
	at   time.Time // zero: now
}

// shows adds an event.
func (st *stream) shows(s *shown, rev storage.Revision) {
	if st.way.to == nil {
		return
	}
	if s.n == len(s.revs) {
		st.traced(s)
	}
	s.revs[s.n] = int64(rev)
	s.n++
}

// traced enters what the stream has shown.
func (st *stream) traced(s *shown) {
	if s.n == 0 {
		return
	}
	l, at := st.s.cfg.Trace, s.at
	if at.IsZero() {
		at = time.Now()
	}
	st.way.reached.Store(s.revs[s.n-1])
	st.way.sent = append(st.way.sent, l.Sent(st.way.to, s.revs[:s.n], l.At(at)))
	s.n = 0
}

// flushed enters that all of it has been written.
func (st *stream) flushed(at time.Time) {
	if len(st.way.sent) == 0 {
		return
	}
	l := st.s.cfg.Trace
	now := l.At(at)
	for _, n := range st.way.sent {
		l.Flushed(n, now)
	}
	st.way.sent = st.way.sent[:0]
}

// follows says who a stream is for.
func (c *call) follows(id uint64) *trace.Stream {
	agent, _, _ := strings.Cut(c.req.UserAgent(), " ")
	return &trace.Stream{
		ID: id, User: userName(c.user), Agent: agent,
		Resource: c.ep.gr.String(), Namespace: c.namespace(), Name: c.info.name,
		Labels: c.query.Get("labelSelector"), Fields: c.query.Get("fieldSelector"),
	}
}
