package server

import (
	"context"
	"errors"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/storage"
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

// errRedefined reports that the definition of the request's kind has changed, or may have,
// perhaps by a write of another server. Nothing has been written or answered, and the request
// is served anew.
var errRedefined = errors.New("the definition of the kind has changed")

// redefinitions bounds the times that a request is served anew.
const redefinitions = 16

// serveResource answers a request for a resource.
func (c *call) serveResource() error {
	ctx := c.ctx
	for range redefinitions {
		do, err := c.route()
		if err == nil {
			err = c.injectFaults()
		}
		if err == nil {
			err = do(c)
		}
		if err != errRedefined {
			return err
		}
		c.ctx, c.lastRead.of = ctx, nil
		if err := c.s.cfg.Definitions.Settle(ctx); err != nil {
			return err
		}
	}
	return apistatus.New(http.StatusServiceUnavailable, "", errRedefined.Error())
}

// lookUp finds the endpoint of a path. Before it returns a custom resource, all definitions in
// the watch caches take effect; before it returns none, all stored ones do.
func (c *call) lookUp(gvr schema.GroupVersionResource) (*endpoint.Endpoint, *endpoint.Table, error) {
	t := c.s.table.Load()
	ep := t.Endpoints[gvr]
	if d := c.s.cfg.Definitions; d != nil && (ep == nil && !t.Groups[gvr.GroupVersion()] || ep != nil && ep.Redefinable && !d.Settled()) {
		if err := d.Settle(c.ctx); err != nil {
			return nil, nil, err
		}
		t = c.s.table.Load()
		ep = t.Endpoints[gvr]
	}
	return ep, t, nil
}

// redefined reports whether the call's endpoint may be out of date for the objects just read
// from the watch cache.
func (c *call) redefined() bool {
	if !c.ep.Redefinable || c.s.cfg.Definitions == nil {
		return false
	}
	return !c.s.cfg.Definitions.Settled() || c.s.table.Load().Endpoints[c.ep.GVR(c.ep.ServedVersion.Name)] != c.ep
}

// fenced adds to a write's condition that the kind's definition is the one whose rules the
// object has been validated by: a server that has not seen the next definition yet writes
// nothing by the old one.
func (c *call) fenced(cond storage.Condition) []storage.Condition {
	if d, ok := c.ep.Definition(); ok && c.s.cfg.Definitions != nil {
		return []storage.Condition{cond, d}
	}
	return []storage.Condition{cond}
}

// failedByDefinition reports, by the present values of a failed transaction's keys, that only
// the condition on the definition has failed.
func failedByDefinition(current []*storage.KeyValue, at storage.Revision) bool {
	if len(current) < 2 {
		return false
	}
	if current[0] == nil {
		return at == 0
	}
	return current[0].ModRevision == at
}

// Resume wakes watches that wait for definitions to take effect. It must be called when they
// have.
func (s *Server) Resume() { s.streams.WakeHeld() }
