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
	"fairlead.dev/internal/server/request"
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

// New returns the barrier of a server of built-in resources. None is registered.
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

// Check returns an error for a request of a user that has to wait. A nil Barrier has none.
func (b *Barrier) Check(in *request.Info, user *auth.User) error {
	if b == nil || b.Lifted() || passes(in, user) {
		return nil
	}
	gr := schema.GroupResource{Group: in.Group, Resource: in.Resource}
	b.mu.Lock()
	err, waits := b.mu.waiting[gr]
	b.mu.Unlock()
	if !waits {
		return nil
	}
	return apierrors.NewServiceUnavailable(fmt.Sprintf("wait for storage version registration to complete for resource: %v, last seen error: %v", gr, err))
}

// passes reports whether a request passes whatever its resource waits for.
func passes(in *request.Info, user *auth.User) bool {
	switch {
	case !in.IsResource, in.Verb == "get", in.Verb == "list", in.Verb == "watch":
		return true
	case in.Group == "internal.apiserver.k8s.io":
		return in.Resource == "storageversions"
	case in.Group == "coordination.k8s.io":
		return in.Resource == "leases" && in.Namespace == metav1.NamespaceSystem
	case in.Group == "":
		return in.Resource == "namespaces" && in.Verb == "create" && user.Name == "system:apiserver" && user.InGroup(auth.MastersGroup)
	}
	return false
}
