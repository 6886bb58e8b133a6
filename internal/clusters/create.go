package clusters

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// defaultNodes is the number of nodes of fairlead up.
const defaultNodes = 3

// create returns the running cluster that an object describes.
func (h *Host) create(ctx context.Context, object *Cluster, failed func()) (*cluster, error) {
	c := &cluster{host: h, name: object.Name, failed: failed, place: h.place(object)}
	if from := object.Spec.From; from != nil {
		return c, c.fork(ctx, *from)
	}
	o := controlplane.Options{
		InMemory: true, Sleeps: true, API: h.options.API, Clock: h.options.Clock, VirtualTime: h.options.Clock != nil, Network: h.options.Network,
		Controllers: object.Spec.Controllers, Scheduler: ptr.Deref(object.Spec.Scheduler, true), Nodes: ptr.Deref(object.Spec.Nodes, defaultNodes),
		Front: c.place.Front, Redirects: c.place.Redirects, MaxStoreBytes: c.place.MaxStoreBytes,
		Faults: c.place.Faults, Trace: c.place.Trace, Log: c.place.Log,
	}
	if o.Controllers == nil {
		o.Controllers = []string{"*"}
	}
	cp, err := h.start(ctx, o)
	if err != nil {
		return nil, err
	}
	began, err := cp.Snapshot(ctx, 0)
	if err != nil {
		return nil, errors.Join(err, cp.Stop())
	}
	c.began = newState(began)
	c.run(cp)
	return c, nil
}

// place returns the place of the control plane of an object.
func (h *Host) place(object *Cluster) controlplane.Place {
	p := controlplane.Place{
		Front: &controlplane.Front{
			URL: h.server.URL() + root + object.Name, CA: h.server.ServingCA(), Address: h.server.Advertised(),
		},
		Redirects: object.Spec.Redirects,
		Network:   h.options.Network,
		Trace:     trace.New(trace.Options{}),
		Log:       h.options.Log.With("cluster", object.Name),
	}
	if limit := object.Spec.Storage; limit != nil {
		p.MaxStoreBytes = limit.Value()
	}
	if h.options.Faults {
		p.Faults = faults.New()
	}
	return p
}

// fork starts the control plane with the state of another one.
func (c *cluster) fork(ctx context.Context, from Origin) error {
	at, err := from.revision()
	if err != nil {
		return permanent{err}
	}
	origin := c.host.find(from.Cluster)
	if origin == nil {
		return permanent{fmt.Errorf("cluster %q does not exist", from.Cluster)}
	}
	if c.began, err = origin.snapshot(ctx, at); err != nil {
		return fmt.Errorf("cluster %q: %w", from.Cluster, err)
	}
	if err := c.start(ctx); err != nil {
		return errors.Join(err, c.began.release())
	}
	return nil
}

// revision returns the parsed Revision, 0 for the current one.
func (o Origin) revision() (storage.Revision, error) {
	if o.Revision == "" {
		return 0, nil
	}
	return storage.ParseRevision(o.Revision)
}
