package server

import "fairlead.dev/internal/server/metrics"

// counted is the route under which metrics count the call.
func (c *call) counted() metrics.Route {
	k := metrics.Route{Endpoint: c.ep, Verb: c.info.Verb, DryRun: c.dryRun, Code: c.w.Code}
	if c.ep == nil {
		return k
	}
	k.Scope = c.scope()
	// A subresource that does not exist has only the name that a client gave it, and there
	// may be any number of those.
	if c.ep.Subresource(c.info.Subresource) != nil {
		k.Subresource = c.info.Subresource
	}
	return k
}

// terminated counts the call as one that the server has ended to protect itself.
func (c *call) terminated(code int) {
	k := c.counted()
	k.Scope, k.Code = c.scope(), code
	c.s.metrics.Terminated(k)
}

// observe counts the call, which has been answered.
func (c *call) observe() { c.s.metrics.Route(c.counted()).Observe(c.start) }

// scope returns the scope label: how many objects the call is about.
func (c *call) scope() string {
	switch {
	case c.info.Name != "":
		return "resource"
	case c.info.Namespace != "":
		return "namespace"
	}
	return "cluster"
}
