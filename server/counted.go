package server

import (
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/metrics"
)

// counted is the route under which metrics count the call.
func (c *serving) counted() metrics.Route {
	k := metrics.Route{Endpoint: c.Endpoint, Verb: c.Info.Verb, DryRun: c.DryRun, Code: c.Writer.Code}
	if c.Endpoint == nil {
		return k
	}
	k.Scope = c.Scope()
	k.Subresource = knownSubresource(&c.Call)
	return k
}

// knownSubresource returns the call's subresource, "" if that does not exist: it has only the name that a client gave it, and
// there may be any number of those.
func knownSubresource(c *call.Call) string {
	if c.Endpoint.Subresource(c.Info.Subresource) == nil {
		return ""
	}
	return c.Info.Subresource
}

// terminated counts the call as one that the server has ended to protect itself.
func (c *serving) terminated(code int) {
	k := c.counted()
	k.Scope, k.Code = c.Scope(), code
	c.s.metrics.Terminated(k)
}

// aborted counts the call as one whose connection was cut, and as one that has been answered.
func (c *serving) aborted() {
	k := c.counted()
	c.s.metrics.Aborted(k)
	c.endSpan(func(int64) { c.s.metrics.Route(k).Observe(c.Start, c.Waited(), c.Writer.Written()) })(0)
}
