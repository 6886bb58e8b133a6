package reach

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// Service returns an address, host and port, that serves a service's port. It fails with NotFound if the service
// does not exist, with ServiceUnavailable if it has no such port or no ready endpoint, and with a SimulatedError if
// all ready endpoints are simulated pods without a definition.
func (n *Network) Service(ctx context.Context, namespace, name string, port int32) (string, error) {
	obj, err := n.lookup.Get(ctx, schema.GroupResource{Resource: "services"}, namespace, name)
	if apierrors.IsNotFound(err) {
		return "", apierrors.NewNotFound(schema.GroupResource{Resource: "service"}, name)
	}
	if err != nil {
		return "", err
	}
	return n.endpointOf(ctx, obj.(*corev1.Service), port)
}

func (n *Network) endpointOf(ctx context.Context, svc *corev1.Service, port int32) (string, error) {
	if svc.Spec.Type == corev1.ServiceTypeExternalName {
		return net.JoinHostPort(svc.Spec.ExternalName, strconv.Itoa(int(port))), nil
	}
	i := slices.IndexFunc(svc.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port })
	if i < 0 {
		return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", port, svc.Name))
	}
	list, err := n.lookup.List(ctx, schema.GroupResource{Group: "discovery.k8s.io", Resource: "endpointslices"}, svc.Namespace)
	if err != nil {
		return "", err
	}
	var ready []endpoint
	for _, obj := range list {
		if s := obj.(*discoveryv1.EndpointSlice); s.Labels[discoveryv1.LabelServiceName] == svc.Name {
			ready = append(ready, endpoints(s, svc.Spec.Ports[i].Name)...)
		}
	}
	err = apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", svc.Name))
	for _, i := range rand.Perm(len(ready)) {
		if err = n.usable(ctx, svc, &ready[i]); err == nil {
			return ready[i].address, nil
		}
	}
	return "", err
}

// endpoint is one of a service.
type endpoint struct {
	address string // host and port
	*discoveryv1.Endpoint
}

// endpoints returns the ready endpoints of a slice, with the port of that name.
func endpoints(s *discoveryv1.EndpointSlice, port string) (list []endpoint) {
	for _, p := range s.Ports {
		if p.Port == nil || ptr.Deref(p.Name, "") != port {
			continue
		}
		for i := range s.Endpoints {
			e := &s.Endpoints[i]
			if !ptr.Deref(e.Conditions.Ready, true) {
				continue
			}
			for _, a := range e.Addresses {
				list = append(list, endpoint{net.JoinHostPort(a, strconv.Itoa(int(*p.Port))), e})
			}
		}
	}
	return list
}

// usable returns an error if an endpoint of a service cannot be dialed.
func (n *Network) usable(ctx context.Context, svc *corev1.Service, e *endpoint) error {
	if n.isLocal(e.address) && n.local.Defines(ctx, e.address) {
		return nil
	}
	what := "a simulated pod"
	node := ptr.Deref(e.NodeName, "")
	if to := e.TargetRef; to != nil && to.Kind == "Pod" {
		what = "the simulated pod " + to.Namespace + "/" + to.Name
		if obj, err := n.lookup.Get(ctx, corev1.Resource("pods"), to.Namespace, to.Name); err == nil {
			node = obj.(*corev1.Pod).Spec.NodeName
		} else if !apierrors.IsNotFound(err) {
			return err
		}
	}
	simulated, err := n.onSimulatedNode(ctx, node)
	if err != nil {
		return err
	}
	// a host name is not an address: the addresses that it resolves to are checked when it is dialed
	at, _ := netip.ParseAddrPort(e.address)
	if !simulated && (n.local == nil || !n.local.Simulates(at.Addr())) {
		all, err := n.declared(ctx)
		if err != nil || !all.contain(at.Addr()) {
			return err
		}
	}
	return &SimulatedError{fmt.Sprintf("the endpoint %s of service %s/%s is %s, which serves nothing; %s",
		e.address, svc.Namespace, svc.Name, what, n.remedy(at.Addr()))}
}

// behind returns the endpoint to which a cluster IP and its port lead if nodes are simulated, and any other address
// unchanged.
func (n *Network) behind(ctx context.Context, at netip.AddrPort) (string, error) {
	all, err := n.declared(ctx)
	if err != nil || len(all) == 0 {
		return at.String(), err
	}
	is, err := n.isClusterIP(ctx, at.Addr())
	if err != nil || !is {
		return at.String(), err
	}
	services, err := n.lookup.List(ctx, corev1.Resource("services"), "")
	for _, obj := range services {
		if svc := obj.(*corev1.Service); slices.Contains(svc.Spec.ClusterIPs, at.Addr().String()) {
			return n.endpointOf(ctx, svc, int32(at.Port()))
		}
	}
	return at.String(), err
}

// Pod returns an error if a pod may not be dialed at its address, because another process simulates it, or because
// the address belongs to a machine where the pod does not run.
func (n *Network) Pod(ctx context.Context, pod *corev1.Pod) error {
	if ip, err := netip.ParseAddr(pod.Status.PodIP); err == nil && n.local != nil && n.local.Simulates(ip) {
		return nil
	}
	simulated, err := n.onSimulatedNode(ctx, pod.Spec.NodeName)
	if err == nil && simulated {
		err = apierrors.NewServiceUnavailable(fmt.Sprintf("pod %s/%s is simulated, and not by this process: nothing can be reached at its address %s", pod.Namespace, pod.Name, pod.Status.PodIP))
	}
	return err
}
