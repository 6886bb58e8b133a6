package controlplane

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/resource/networking"
	"fairlead.dev/server"
)

var addressResource = networkingv1.Resource("ipaddresses")

// leakedAfter is how long an IPAddress may be without its Service, and revertedAfter without the Service using it. A
// kube-apiserver on the same etcd cluster writes the IPAddress first, and gives the Service a minute. If it cannot write
// the Service, it deletes the IPAddress again.
const (
	leakedAfter   = time.Minute
	revertedAfter = 5 * time.Second
)

// An addressRepair makes IPAddresses and the cluster IPs of Services agree, by the rules of kube-apiserver's repair
// controller: at the start, after each write of an IPAddress, and when the time of one that is unused is up.
type addressRepair struct {
	server *server.Server
	log    *slog.Logger
	mu     struct {
		sync.Mutex
		timer  *time.Timer
		closed bool
	}
}

// run repairs once, and again at the next due time. An error is logged: a Service that cannot be read does not prevent the
// repair of others.
func (r *addressRepair) run(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.closed {
		return
	}
	next, err := r.repair(ctx)
	if err != nil {
		r.log.Warn("IPAddresses not repaired", "error", err)
	}
	if r.mu.timer != nil {
		r.mu.timer.Stop()
	}
	if next > 0 {
		r.mu.timer = time.AfterFunc(next, func() { r.run(context.Background()) })
	}
}

// close ends the repair.
func (r *addressRepair) close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.closed = true
	if r.mu.timer != nil {
		r.mu.timer.Stop()
	}
}

// repair creates the IPAddresses that Services lack, because an older server made the Service or because the IPAddress was
// deleted, and replaces those that name another parent or lack their labels. An address that two Services have belongs to
// the one that its IPAddress names. It deletes the server's IPAddresses that belong to no cluster IP; next is the time
// until the first one that may still get its Service, 0 if there is none. It leaves alone IPAddresses that others have made, and
// Services outside all ServiceCIDRs.
func (r *addressRepair) repair(ctx context.Context) (next time.Duration, err error) {
	list, err := r.server.Lookup().List(ctx, addressResource, "")
	if err != nil {
		return 0, err
	}
	have := map[string]*networkingv1.IPAddress{}
	for _, obj := range list {
		a := obj.(*networkingv1.IPAddress)
		have[a.Name] = a
	}
	ips, err := r.clusterIPs(ctx, have)
	if err != nil {
		return 0, err
	}
	inRange, err := r.ranges(ctx)
	if err != nil {
		return 0, err
	}
	var missing []runtime.Object
	for ip, svc := range ips.owners {
		a := have[ip.String()]
		if !inRange(ip) || a != nil && networking.BelongsTo(a, svc) && networking.HasLabels(a, ip) {
			continue
		}
		if a != nil {
			if err := r.remove(ctx, a); err != nil {
				return 0, err
			}
		}
		missing = append(missing, networking.NewIPAddress(ip, svc))
	}
	for name, a := range have {
		ip, err := netip.ParseAddr(name)
		if err != nil || ips.owners[ip] != nil || a.Labels[networkingv1.LabelManagedBy] != networking.IPAllocator {
			continue
		}
		if left := ips.patience(a) - time.Since(a.CreationTimestamp.Time); left > 0 {
			if next == 0 || left < next {
				next = left
			}
			continue
		}
		if err := r.remove(ctx, a); err != nil {
			return next, err
		}
	}
	return next, r.server.Bootstrap(ctx, missing, func(_, _ runtime.Object) runtime.Object { return nil })
}

// clusterIPs are those of all Services.
type clusterIPs struct {
	owners   map[netip.Addr]*corev1.Service
	services map[types.NamespacedName]*corev1.Service
}

func (r *addressRepair) clusterIPs(ctx context.Context, have map[string]*networkingv1.IPAddress) (clusterIPs, error) {
	c := clusterIPs{map[netip.Addr]*corev1.Service{}, map[types.NamespacedName]*corev1.Service{}}
	list, err := r.server.Lookup().List(ctx, corev1.Resource("services"), "")
	if err != nil {
		return c, err
	}
	for _, obj := range list {
		svc := obj.(*corev1.Service)
		c.services[types.NamespacedName{Namespace: svc.Namespace, Name: svc.Name}] = svc
		for _, text := range svc.Spec.ClusterIPs {
			ip, err := netip.ParseAddr(text)
			if err != nil {
				continue // "None"
			}
			if a := have[ip.String()]; c.owners[ip] == nil || a != nil && networking.BelongsTo(a, svc) {
				c.owners[ip] = svc
			}
		}
	}
	return c, nil
}

// patience returns the age up to which an IPAddress of the server that no Service uses may still get its Service.
func (c clusterIPs) patience(a *networkingv1.IPAddress) time.Duration {
	p := a.Spec.ParentRef
	if p == nil || p.Group != "" || p.Resource != "services" {
		return 0
	}
	svc := c.services[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}]
	switch {
	case svc == nil, svc.Spec.Type == corev1.ServiceTypeExternalName:
		return leakedAfter
	case a.CreationTimestamp.After(svc.CreationTimestamp.Time):
		return revertedAfter
	}
	return 0
}

// ranges reports whether a ServiceCIDR has an address. Without any ServiceCIDR all addresses count as in range.
func (r *addressRepair) ranges(ctx context.Context) (has func(netip.Addr) bool, err error) {
	list, err := r.server.Lookup().List(ctx, networkingv1.Resource("servicecidrs"), "")
	if err != nil {
		return nil, err
	}
	var all []netip.Prefix
	for _, obj := range list {
		for _, text := range obj.(*networkingv1.ServiceCIDR).Spec.CIDRs {
			if p, err := netip.ParsePrefix(text); err == nil {
				all = append(all, p)
			}
		}
	}
	return func(ip netip.Addr) bool {
		return len(all) == 0 || slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Contains(ip) })
	}, nil
}

func (r *addressRepair) remove(ctx context.Context, a *networkingv1.IPAddress) error {
	err := r.server.Remove(ctx, addressResource, a.Name, a.UID)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // another server has repaired them
	}
	return err
}
