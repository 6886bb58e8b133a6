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

// Definitions keep the custom kinds that are served at what the stored
// definitions say.
type Definitions interface {
	// Settled says that what the watch caches hold of definitions is in effect.
	// It is asked for each request to a custom kind, and does not wait.
	Settled() bool
	// Settle puts into effect all that is stored by now, with a call of
	// Server.Set if that changes what is served.
	Settle(ctx context.Context) error
}

// errRedefined says that a request's kind has another definition by now, perhaps
// one that another server wrote, or may have. Nothing has been written or
// answered, and the request is to be served anew.
var errRedefined = errors.New("the definition of the kind has changed")

// redefinitions is how often a request is served anew.
const redefinitions = 16

// serveResource answers a request to a resource.
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

// lookUp finds the endpoint of a path. Before it is one of a custom kind, all
// definitions take effect that the watch caches hold; before it is none, all that
// are stored.
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

// redefined says that the call's endpoint is perhaps not the one that what was
// just read of the watch cache is to be seen by.
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

// failedByDefinition says of a write that failed, by what its conditions' keys hold, that
// it did because of the definition: the object is as it was to be.
func failedByDefinition(current []*storage.KeyValue, at storage.Revision) bool {
	if len(current) < 2 {
		return false
	}
	if current[0] == nil {
		return at == 0
	}
	return current[0].ModRevision == at
}

// Resume lets watches go on that wait for definitions to take effect. It is to
// be called when they have.
func (s *Server) Resume() { s.streams.WakeHeld() }
