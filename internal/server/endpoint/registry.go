package endpoint

import (
	"context"
	"errors"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/storage"
)

// ErrRedefined reports that the definition of the request's kind has changed, or may have,
// perhaps by a write of another server. The request has been neither answered nor written, and
// is served anew.
var ErrRedefined = errors.New("the definition of the kind has changed")

// Redefinitions bounds the times that a request is served anew.
const Redefinitions = 16

// Definitions keeps the served custom resources in step with the stored definitions.
type Definitions interface {
	// Settled reports whether the definitions in the watch caches are in effect. It does not
	// wait.
	Settled() bool
	// Settle puts all stored definitions into effect.
	Settle(ctx context.Context) error
}

// Registry holds the table of endpoints that is in effect. Its methods may be called from any
// goroutine.
type Registry struct {
	table atomic.Pointer[Table]
	// Definitions is nil if there are no custom resources. It is set before the first request.
	Definitions Definitions
}

// Table returns the table in effect, nil before the first Replace.
func (r *Registry) Table() *Table { return r.table.Load() }

// Replace puts a table into effect.
func (r *Registry) Replace(t *Table) { r.table.Store(t) }

// Stored returns the endpoint of a resource's storage version, nil if the resource is not
// served or not stored.
func (r *Registry) Stored(gr schema.GroupResource) *Endpoint {
	if ep := r.Table().Stored[gr]; ep != nil && ep.Cache != nil {
		return ep
	}
	return nil
}

// StoredKind returns the endpoint that stores a kind in this version, or nil.
func (r *Registry) StoredKind(gvk schema.GroupVersionKind) *Endpoint {
	for _, ep := range r.Table().Endpoints {
		if ep.ServedGVK == gvk && ep.Raw && ep.Cache != nil {
			return ep
		}
	}
	return nil
}

// Find returns the endpoint of a path, or nil, and the table that it is from.
// Before it returns a custom resource, all definitions in the watch caches take effect; before
// it returns nil, all stored ones do.
func (r *Registry) Find(ctx context.Context, gvr schema.GroupVersionResource) (*Endpoint, *Table, error) {
	t := r.Table()
	ep := t.Endpoints[gvr]
	if d := r.Definitions; d != nil && (ep == nil && !t.Groups[gvr.GroupVersion()] || ep != nil && ep.Redefinable && !d.Settled()) {
		if err := d.Settle(ctx); err != nil {
			return nil, nil, err
		}
		t = r.Table()
		ep = t.Endpoints[gvr]
	}
	return ep, t, nil
}

// Outdated reports whether the endpoint may be out of date for objects just read from its
// watch cache.
func (r *Registry) Outdated(ep *Endpoint) bool {
	if !ep.Redefinable || r.Definitions == nil {
		return false
	}
	return !r.Definitions.Settled() || r.Table().Endpoints[ep.GVR(ep.ServedVersion.Name)] != ep
}

// Fence adds to a write's condition that the kind's definition is the one whose rules the
// object has been validated by. A server that has not seen the next definition yet thus fails
// to write by the old one.
func (r *Registry) Fence(ep *Endpoint, cond storage.Condition) []storage.Condition {
	if d, ok := ep.Definition(); ok && r.Definitions != nil {
		return []storage.Condition{cond, d}
	}
	return []storage.Condition{cond}
}
