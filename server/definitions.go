package server

import (
	"context"
	"net/http"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/watchcache"
)

// Definitions keeps the served custom resources in step with the stored definitions.
type Definitions interface {
	// Settled reports whether the definitions in the watch caches are in effect. It is called
	// for each request to a custom resource, and does not wait.
	Settled() bool
	// Settle puts all stored definitions into effect, and calls Server.Set if that changes the
	// resources served.
	Settle(ctx context.Context) error
}

// serveResource answers a request for a resource. A verb is called again if the definition of its kind has changed, or if it has
// refused a write by caches that were behind.
func (s *Server) serveResource(c *call.Call) error {
	ctx := c.Context
	c.AuditResponse()
	for range endpoint.Redefinitions {
		do, err := s.route(c)
		if err == nil {
			err = s.decorate(do)(c)
		}
		switch {
		case err == endpoint.ErrRedefined:
			if err := s.cfg.Definitions.Settle(ctx); err != nil {
				return err
			}
		case err == nil || !watchcache.Recheck(ctx):
			return err
		}
		c.Context = ctx
	}
	return apistatus.New(http.StatusServiceUnavailable, "", endpoint.ErrRedefined.Error())
}

// Resume wakes watches that wait for definitions to take effect. It must be called when they
// have.
func (s *Server) Resume() { s.streams.WakeHeld() }
