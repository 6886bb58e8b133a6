package server

import (
	"strings"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// stamp records the time at which a write passes a hop.
func (c *call) stamp(h trace.Hop) {
	if l := c.s.cfg.Trace; l != nil {
		c.hops[h] = l.Now()
	}
}

// stampQueued stamps a write as it goes to the store. Writes that skip admission, such as a
// binding, are stamped as admitted, too.
func (c *call) stampQueued() {
	c.stamp(trace.Queued)
	if c.hops[trace.Admitted] == 0 {
		c.hops[trace.Admitted] = c.hops[trace.Queued]
	}
}

// traceWrite enters the write into the trace under the revision of its event.
func (c *call) traceWrite(rev storage.Revision) {
	l := c.s.cfg.Trace
	if l == nil {
		return
	}
	for _, one := range c.injectedFaults {
		one.Revision = int64(rev)
		l.FaultInjected(one)
	}
	c.injectedFaults = nil
	c.hops[trace.Received] = l.At(c.start)
	l.Wrote(int64(rev), &trace.Write{
		Verb: c.info.Verb, Subresource: c.info.Subresource,
		User: userName(c.user), Agent: c.agent(),
		Parent: trace.ParseParent(c.req.Header),
		At:     c.hops,
	})
}

// agent returns the client's program, without its platform.
func (c *call) agent() string {
	whole := c.req.Header["User-Agent"]
	if len(whole) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(whole[0], " ")
	return name
}

// traceStream describes the watch that the call opens.
func (c *call) traceStream(id uint64) *trace.Stream {
	return &trace.Stream{
		ID: id, User: userName(c.user), Agent: c.agent(),
		Resource: c.ep.ServedGR.String(), Namespace: c.namespace(), Name: c.info.Name,
		Labels: c.query.Get("labelSelector"), Fields: c.query.Get("fieldSelector"),
		Opened: time.Now(),
	}
}
