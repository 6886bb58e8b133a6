package barrier

import (
	"fmt"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/auth"
)

// A Barrier refuses writes of resources that are not registered yet. Make it with New.
type Barrier struct {
	reports []*Report
	lifted  atomic.Bool

	mu struct {
		sync.Mutex
		waiting map[schema.GroupResource]error // the last error, or nil, of those that are not registered
	}
}

// New returns the barrier of a server of built-in resources. All its resources wait.
func New(rows []*resource.Resource) *Barrier {
	b := &Barrier{reports: reports(rows)}
	b.mu.waiting = map[schema.GroupResource]error{}
	for _, r := range b.reports {
		for _, gr := range r.covers {
			b.mu.waiting[gr] = nil
		}
	}
	return b
}

// Reports are the reports to register, by group and resource.
func (b *Barrier) Reports() []*Report { return b.reports }

// Done tells that a report was registered, or why it was not.
func (b *Barrier) Done(r *Report, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, gr := range r.covers {
		if _, waits := b.mu.waiting[gr]; !waits {
			continue
		}
		if b.mu.waiting[gr] = err; err == nil {
			delete(b.mu.waiting, gr)
		}
	}
}

// Lift lets all requests pass from now on.
func (b *Barrier) Lift() { b.lifted.Store(true) }

// Lifted reports whether all requests pass.
func (b *Barrier) Lifted() bool { return b.lifted.Load() }

// Check returns an error for a request that has to wait.
func (b *Barrier) Check(a auth.Attributes) error {
	if b.Lifted() || passes(a) {
		return nil
	}
	gr := schema.GroupResource{Group: a.Group, Resource: a.Resource}
	b.mu.Lock()
	err, waits := b.mu.waiting[gr]
	b.mu.Unlock()
	if !waits {
		return nil
	}
	return apierrors.NewServiceUnavailable(fmt.Sprintf("wait for storage version registration to complete for resource: %v, last seen error: %v", gr, err))
}

// passes reports whether a request passes whatever its resource waits for.
func passes(a auth.Attributes) bool {
	switch {
	case !a.IsResource, a.Verb == "get", a.Verb == "list", a.Verb == "watch":
		return true
	case a.Group == "internal.apiserver.k8s.io":
		return a.Resource == "storageversions"
	case a.Group == "coordination.k8s.io":
		return a.Resource == "leases" && a.Namespace == metav1.NamespaceSystem
	case a.Group == "":
		return a.Resource == "namespaces" && a.Verb == "create" && a.User.Name == "system:apiserver" && a.User.InGroup(auth.MastersGroup)
	}
	return false
}
