package server

import "fairlead.dev/internal/server/metrics"

// counted is the route under which metrics count the call.
func (c *serving) counted() metrics.Route {
	k := metrics.Route{Endpoint: c.Endpoint, Verb: c.Info.Verb, DryRun: c.DryRun, Code: c.Writer.Code}
	if c.Endpoint == nil {
		return k
	}
	k.Scope = c.scope()
	// A subresource that does not exist has only the name that a client gave it, and there
	// may be any number of those.
	if c.Endpoint.Subresource(c.Info.Subresource) != nil {
		k.Subresource = c.Info.Subresource
	}
	return k
}

// terminated counts the call as one that the server has ended to protect itself.
func (c *serving) terminated(code int) {
	k := c.counted()
	k.Scope, k.Code = c.scope(), code
	c.s.metrics.Terminated(k)
}

// aborted counts the call as one whose connection was cut, and as one that has been answered.
func (c *serving) aborted() {
	k := c.counted()
	c.s.metrics.Aborted(k)
	c.s.metrics.Route(k).Observe(c.Start, c.Waited(), c.Writer.Written())
}

// scope returns the scope label: how many objects the call is about.
func (c *serving) scope() string {
	switch {
	case c.Info.Name != "":
		return "resource"
	case c.Info.Namespace != "":
		return "namespace"
	}
	return "cluster"
}
