// Package reach finds where a service is served. There is no network of the cluster in
// between: a service leads to one of its endpoints, at random, or to its external name.
package reach

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/server/auth"
)

// Service finds an address, a host and its port, at which a service's port is served. It
// fails with NotFound if there is no such service, and with ServiceUnavailable if it has no
// such port or nobody is ready behind it.
func Service(ctx context.Context, l auth.Lookup, namespace, name string, port int32) (string, error) {
	obj, err := l.Get(ctx, schema.GroupResource{Resource: "services"}, namespace, name)
	if apierrors.IsNotFound(err) {
		return "", apierrors.NewNotFound(schema.GroupResource{Resource: "service"}, name)
	}
	if err != nil {
		return "", err
	}
	svc := obj.(*corev1.Service)
	if svc.Spec.Type == corev1.ServiceTypeExternalName {
		return net.JoinHostPort(svc.Spec.ExternalName, strconv.Itoa(int(port))), nil
	}
	named := ""
	found := false
	for _, p := range svc.Spec.Ports {
		if p.Port == port {
			named, found = p.Name, true
			break
		}
	}
	if !found {
		return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", port, name))
	}
	slices, err := l.List(ctx, schema.GroupResource{Group: "discovery.k8s.io", Resource: "endpointslices"}, namespace)
	if err != nil {
		return "", err
	}
	var ready []string
	for _, obj := range slices {
		if s := obj.(*discoveryv1.EndpointSlice); s.Labels[discoveryv1.LabelServiceName] == name {
			ready = append(ready, addresses(s, named)...)
		}
	}
	if len(ready) == 0 {
		return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", name))
	}
	return ready[rand.IntN(len(ready))], nil
}

// addresses are the ready endpoints of a slice, with the port of that name.
func addresses(s *discoveryv1.EndpointSlice, port string) (list []string) {
	for _, p := range s.Ports {
		if p.Port == nil || p.Name != nil && *p.Name != port || p.Name == nil && port != "" {
			continue
		}
		for _, e := range s.Endpoints {
			if e.Conditions.Ready != nil && !*e.Conditions.Ready {
				continue
			}
			for _, a := range e.Addresses {
				list = append(list, net.JoinHostPort(a, strconv.Itoa(int(*p.Port))))
			}
		}
	}
	return list
}
