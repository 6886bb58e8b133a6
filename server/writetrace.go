package server

import (
	"strings"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// stamp stamps the call on its way to the store.
func (c *call) stamp(h trace.Hop) {
	if l := c.s.cfg.Trace; l != nil {
		c.hops[h] = l.Now()
	}
}

// stampQueued stamps the call as it goes to the store. What is written by another way than
// most, a binding say, has been admitted by then as well.
func (c *call) stampQueued() {
	c.stamp(trace.Queued)
	if c.hops[trace.Admitted] == 0 {
		c.hops[trace.Admitted] = c.hops[trace.Queued]
	}
}

// traceWrite tells the trace which event the call has made.
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

// agent is the client's program, without its platform.
func (c *call) agent() string {
	whole := c.req.Header["User-Agent"]
	if len(whole) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(whole[0], " ")
	return name
}

// traceStream says who a stream is for.
func (c *call) traceStream(id uint64) *trace.Stream {
	return &trace.Stream{
		ID: id, User: userName(c.user), Agent: c.agent(),
		Resource: c.ep.ServedGR.String(), Namespace: c.namespace(), Name: c.info.Name,
		Labels: c.query.Get("labelSelector"), Fields: c.query.Get("fieldSelector"),
		Opened: time.Now(),
	}
}
