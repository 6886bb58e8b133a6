package server

import (
	"strings"
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
		l.FaultInjected(one)
	}
	c.strikes = nil
	c.passed[trace.Received] = l.At(c.start)
	l.Wrote(int64(rev), &trace.Write{
		Verb: c.info.Verb, Subresource: c.info.Subresource,
		User: userName(c.user), Agent: c.agent(),
		Parent: trace.ParseParent(c.req.Header),
		At:     c.passed,
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

// follows says who a stream is for.
func (c *call) follows(id uint64) *trace.Stream {
	return &trace.Stream{
		ID: id, User: userName(c.user), Agent: c.agent(),
		Resource: c.ep.ServedGR.String(), Namespace: c.namespace(), Name: c.info.Name,
		Labels: c.query.Get("labelSelector"), Fields: c.query.Get("fieldSelector"),
		Opened: time.Now(),
	}
}
