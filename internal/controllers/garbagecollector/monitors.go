package garbagecollector

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/served"
)

const (
	// settle batches changes of the served resources into one discovery.
	settle = 500 * time.Millisecond
	// retryDiscovery is the pause after a complete or partial failure of discovery.
	retryDiscovery = 5 * time.Second
	// patience limits the wait for the first lists, so that one broken resource does not prevent all collection.
	patience = 30 * time.Second
)

// monitors is the set of watched resources.
type monitors struct {
	c       *collector
	ready   chan struct{} // closed when the first set has been listed
	changed chan struct{} // rung when the served resources may have changed
	mu      struct {
		sync.Mutex
		following map[schema.GroupVersionResource]*monitor
	}
}

// monitor is one watched resource.
type monitor struct {
	synced <-chan struct{}
	stop   func()
	get    func(namespace, name string) (metav1.Object, bool)
}

func (m *monitors) init(c *collector) {
	m.c = c
	m.ready = make(chan struct{})
	m.changed = make(chan struct{}, 1)
	m.mu.following = make(map[schema.GroupVersionResource]*monitor)
}

// run keeps the set equal to the served resources until ctx ends.
func (m *monitors) run(ctx context.Context) error {
	defer m.stopAll()
	first := true
	for {
		wait := m.c.rediscover
		synced, err := m.refresh(ctx)
		if err != nil && ctx.Err() == nil {
			m.c.env.Log.Warn("discovery failed", "controller", "garbagecollector", "error", err)
			wait = retryDiscovery
		}
		if first && (err == nil || len(synced) > 0) {
			m.await(ctx, synced)
			close(m.ready)
			first = false
		}
		if !m.pause(ctx, wait) {
			return nil
		}
	}
}

// pause waits until the served resources may have changed. It returns false when ctx ends.
func (m *monitors) pause(ctx context.Context, wait time.Duration) bool {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	case <-m.changed:
	}
	t.Reset(settle)
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// ring reports that the served resources may have changed.
func (m *monitors) ring() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// refresh starts monitors of new resources and stops those of resources no longer served. If discovery failed for
// some groups, all monitors stay.
func (m *monitors) refresh(ctx context.Context) (synced []<-chan struct{}, err error) {
	resources, err := m.c.env.Client.ServerResources(ctx)
	wanted := make(map[schema.GroupVersionResource]bool)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range served.Once(resources) {
		if !r.Can("delete", "list", "watch") || ignored(r.GVR) {
			continue
		}
		wanted[r.GVR] = true
		f := m.mu.following[r.GVR]
		if f == nil {
			f = m.c.follow(r)
			m.mu.following[r.GVR] = f
		}
		synced = append(synced, f.synced)
	}
	if err == nil {
		for gvr, f := range m.mu.following {
			if !wanted[gvr] {
				f.stop()
				delete(m.mu.following, gvr)
			}
		}
	}
	return synced, err
}

func (m *monitors) stopAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.mu.following {
		f.stop()
	}
}

// cached returns an object from the informer of its resource, if there is one.
func (m *monitors) cached(ctx context.Context, id identity) (metav1.Object, bool) {
	mapping, err := m.c.env.Client.Mapping(ctx, id.gvk())
	if err != nil {
		return nil, false
	}
	m.mu.Lock()
	f := m.mu.following[mapping.GVR]
	m.mu.Unlock()
	if f == nil {
		return nil, false
	}
	return f.get(id.namespace, id.name)
}

// ignored reports whether a resource is left out because it has many objects without dependents.
func ignored(gvr schema.GroupVersionResource) bool {
	return gvr.Resource == "events" && (gvr.Group == "" || gvr.Group == "events.k8s.io")
}

// tellsOfServed reports whether objects of the kind define served resources.
func tellsOfServed(r client.APIResource) bool {
	gk := r.Kind.GroupKind()
	return gk == schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"} ||
		gk == schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
}

// await waits until all have been listed, within patience.
func (m *monitors) await(ctx context.Context, synced []<-chan struct{}) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for _, s := range synced {
		select {
		case <-s:
		case <-ctx.Done():
			return
		case <-late.C:
			m.c.env.Log.Warn("not all resources could be listed in time", "controller", "garbagecollector")
			return
		}
	}
}
