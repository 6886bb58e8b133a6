package controlplane

import (
	"context"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/resource/networking"
	"fairlead.dev/server"
)

var addressResource = networkingv1.Resource("ipaddresses")

// leakedAfter is how long an IPAddress may be without its Service. A kube-apiserver on the
// same etcd cluster writes the IPAddress first and gives the Service a minute.
const leakedAfter = time.Minute

// repairClusterIPs creates the IPAddresses that Services lack, because an older server made
// the Service or because the IPAddress was deleted, and deletes the server's IPAddresses
// that belong to no cluster IP. An address that two Services have belongs to the one that
// its IPAddress names.
func repairClusterIPs(ctx context.Context, s *server.Server) error {
	list, err := s.Lookup().List(ctx, addressResource, "")
	if err != nil {
		return err
	}
	have := map[string]*networkingv1.IPAddress{}
	for _, obj := range list {
		a := obj.(*networkingv1.IPAddress)
		have[a.Name] = a
	}
	owners, err := clusterIPs(ctx, s, have)
	if err != nil {
		return err
	}
	var missing []runtime.Object
	for ip, svc := range owners {
		a := have[ip.String()]
		if a != nil && networking.BelongsTo(a, svc) {
			continue
		}
		if a != nil {
			if err := removeAddress(ctx, s, a); err != nil {
				return err
			}
		}
		missing = append(missing, networking.NewIPAddress(ip, svc))
	}
	for name, a := range have {
		ip, err := netip.ParseAddr(name)
		leaked := a.Labels[networkingv1.LabelManagedBy] == networking.IPAllocator && time.Since(a.CreationTimestamp.Time) > leakedAfter
		if err == nil && owners[ip] == nil && leaked {
			if err := removeAddress(ctx, s, a); err != nil {
				return err
			}
		}
	}
	return s.Bootstrap(ctx, missing, func(_, _ runtime.Object) runtime.Object { return nil })
}

// clusterIPs are those of all Services.
func clusterIPs(ctx context.Context, s *server.Server, have map[string]*networkingv1.IPAddress) (map[netip.Addr]*corev1.Service, error) {
	services, err := s.Lookup().List(ctx, corev1.Resource("services"), "")
	if err != nil {
		return nil, err
	}
	owners := map[netip.Addr]*corev1.Service{}
	for _, obj := range services {
		svc := obj.(*corev1.Service)
		for _, text := range svc.Spec.ClusterIPs {
			ip, err := netip.ParseAddr(text)
			if err != nil {
				continue // "None"
			}
			if a := have[ip.String()]; owners[ip] == nil || a != nil && networking.BelongsTo(a, svc) {
				owners[ip] = svc
			}
		}
	}
	return owners, nil
}

func removeAddress(ctx context.Context, s *server.Server, a *networkingv1.IPAddress) error {
	err := s.Remove(ctx, addressResource, a.Name, a.UID)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // another server has repaired them
	}
	return err
}
