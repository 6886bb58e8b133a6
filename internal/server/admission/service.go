package admission

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corekinds "fairlead.dev/internal/resource/core"
	"fairlead.dev/storage"
)

// ServiceOptions configure ServiceAllocation.
type ServiceOptions struct {
	// Families are the IP families of the cluster, the default first. Addresses are allocated from the stored
	// ServiceCIDRs.
	Families []corev1.IPFamily
	// NodePorts is the range of node ports; 30000 to 32767 if zero.
	NodePorts utilnet.PortRange
	// Reserved is set if other servers allocate node ports in the same store. It returns when the key of a node port was last
	// written, 0 if it does not exist; what the request reads from then on is no older.
	Reserved func(ctx context.Context, key string) (storage.Revision, error)
}

// DefaultNodePorts is the range of node ports of a cluster.
var DefaultNodePorts = utilnet.PortRange{Base: 30000, Size: 2768}

// ServiceAllocation allocates the cluster IPs and node ports of services. The allocated ports are read from the
// services once and then maintained here. A port whose owner no longer holds it (because the service's deletion was
// not seen here) is detected when another service wants it.
//
// With ServiceOptions.Reserved a service is written in one transaction with a key for each of its node ports, as it is
// with its IPAddresses, so no other server can allocate the port meanwhile. If there is a key already, the services are
// read again: they alone tell whether the port is held, since another program may have deleted its service.
type ServiceAllocation struct {
	lookup   Lookup
	families []corev1.IPFamily
	reserved func(ctx context.Context, key string) (storage.Revision, error)
	port0    int
	mu       struct {
		sync.Mutex
		loaded bool
		ports  *pool
		// inFlight has the allocations of requests that are not yet written.
		inFlight map[holding]bool
	}
}

// NewServiceAllocation returns the plugin.
func NewServiceAllocation(l Lookup, o ServiceOptions) *ServiceAllocation {
	if o.NodePorts.Size == 0 {
		o.NodePorts = DefaultNodePorts
	}
	a := &ServiceAllocation{lookup: l, families: o.Families, reserved: o.Reserved, port0: o.NodePorts.Base}
	a.mu.inFlight = map[holding]bool{}
	size := o.NodePorts.Size
	low := 0
	if size > 32 {
		low = min(max(16, size/32), 128)
	}
	a.mu.ports = newPool(size, low)
	return a
}

// Name implements Plugin.
func (*ServiceAllocation) Name() string { return "ServiceAllocation" }

// Complete implements Completer.
func (a *ServiceAllocation) Complete(ctx context.Context, r *Request) error {
	if r.GroupResource() != core("services") || r.Subresource != "" || r.Verb == Connect {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.mu.loaded {
		if err := a.load(ctx); err != nil {
			return status(err)
		}
	}
	t := &allocation{a: a, ctx: ctx, r: r, owner: r.Namespace + "/" + r.Name}
	switch r.Verb {
	case Create:
		t.svc = r.Object.(*corev1.Service)
		if s := &t.svc.Spec; s.ClusterIP != "" && len(s.ClusterIPs) == 0 { // from a client that only knows the older field
			s.ClusterIPs = []string{s.ClusterIP}
		}
		t.old = &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName}}
	case Update:
		t.svc, t.old = r.Object.(*corev1.Service), r.Old.(*corev1.Service)
		corekinds.KeepAllocated(t.svc, t.old) // as the strategy does later: whatever remains is held
	case Delete:
		t.svc, _ = r.Old.(*corev1.Service)
		if t.svc == nil || len(t.svc.Finalizers) > 0 {
			return nil
		}
		t.freed = held(t.svc)
	}
	if r.Verb != Delete {
		if err := t.do(); err != nil {
			t.undo()
			return err
		}
		after := held(t.svc)
		if r.Verb == Update && t.svc.DeletionTimestamp != nil && len(t.svc.Finalizers) == 0 {
			after = nil // this update ends it
		}
		for _, h := range held(t.old) {
			if !slices.Contains(after, h) {
				t.freed = append(t.freed, h)
			}
		}
	}
	if r.DryRun {
		t.undo()
		return nil
	}
	if err := t.along(); err != nil {
		t.undo()
		return status(err)
	}
	r.OnDone(func(written bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if written {
			t.keep()
		} else {
			t.undo()
		}
	})
	return nil
}

// holding is an address or a port held by a service.
type holding struct {
	ip   netip.Addr
	port int
}

func held(svc *corev1.Service) []holding {
	var list []holding
	for _, s := range svc.Spec.ClusterIPs {
		if ip, err := netip.ParseAddr(s); err == nil {
			list = append(list, holding{ip: ip})
		}
	}
	for _, p := range svc.Spec.Ports {
		if p.NodePort != 0 {
			list = append(list, holding{port: int(p.NodePort)})
		}
	}
	if p := svc.Spec.HealthCheckNodePort; p != 0 {
		list = append(list, holding{port: int(p)})
	}
	return list
}

func owner(svc *corev1.Service) string { return svc.Namespace + "/" + svc.Name }

// port returns the index of a node port in the pool.
func (a *ServiceAllocation) port(h holding) (int, error) {
	n := h.port - a.port0
	if n < 0 || n >= a.mu.ports.size {
		return 0, fmt.Errorf("provided port is not in the valid range. The range of valid ports is %d-%d", a.port0, a.port0+a.mu.ports.size-1)
	}
	return n, nil
}

// load reads the node ports of all services, beside those of requests that are not yet written.
func (a *ServiceAllocation) load(ctx context.Context) error {
	list, err := a.lookup.List(ctx, core("services"), "")
	if err != nil {
		return err
	}
	maps.DeleteFunc(a.mu.ports.owners, func(n int, _ string) bool { return !a.mu.inFlight[holding{port: a.port0 + n}] })
	for _, obj := range list {
		svc := obj.(*corev1.Service)
		for _, h := range held(svc) {
			if n, err := a.port(h); err == nil {
				a.mu.ports.owners[n] = owner(svc)
			}
		}
	}
	a.mu.loaded = true
	return nil
}

// invalidService returns the Invalid error for faults of a service, or nil.
func invalidService(svc *corev1.Service, errs ...*field.Error) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Service").GroupKind(), svc.Name, errs)
}
