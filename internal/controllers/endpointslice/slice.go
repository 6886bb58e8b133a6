package endpointslice

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol"
	"fairlead.dev/internal/controllers/podcontrol/backends"
)

var serviceKind = corev1.SchemeGroupVersion.WithKind("Service")

func newSlice(svc *corev1.Service, family discoveryv1.AddressType, ports []discoveryv1.EndpointPort) *discoveryv1.EndpointSlice {
	if ports == nil {
		ports = []discoveryv1.EndpointPort{}
	}
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    podcontrol.NamePrefix(svc.Name),
			Namespace:       svc.Namespace,
			Labels:          labelsFor(svc),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(svc, serviceKind)},
		},
		AddressType: family,
		Endpoints:   []discoveryv1.Endpoint{},
		Ports:       ports,
	}
}

// labelsFor returns the Service's labels, with ours.
func labelsFor(svc *corev1.Service) map[string]string {
	out := make(map[string]string, len(svc.Labels)+3)
	maps.Copy(out, svc.Labels)
	delete(out, corev1.IsHeadlessService)
	if backends.Headless(svc) {
		out[corev1.IsHeadlessService] = ""
	}
	out[discoveryv1.LabelServiceName] = svc.Name
	out[discoveryv1.LabelManagedBy] = manager
	return out
}

// labelled returns a copy of the slice with the labels that it should have, and whether they have changed.
func labelled(s *discoveryv1.EndpointSlice, svc *corev1.Service) (*discoveryv1.EndpointSlice, bool) {
	want := labelsFor(svc)
	changed := !maps.Equal(s.Labels, want)
	out := *s // endpoints are replaced as a whole by the caller, the rest is not modified
	out.Labels = want
	out.Annotations = maps.Clone(s.Annotations)
	return &out, changed
}

func ownedBy(s *discoveryv1.EndpointSlice, svc *corev1.Service) bool {
	for _, ref := range s.OwnerReferences {
		if ref.UID == svc.UID && ref.Kind == serviceKind.Kind && ref.APIVersion == "v1" {
			return true
		}
	}
	return false
}

// zones follows the nodes' zones: a changed zone changes the endpoints on its node, and the shares by which endpoints
// are distributed.
func (c *controllerState) zones() controller.Source {
	wake := func(n *corev1.Node, concerned func(*corev1.Service) bool) {
		for _, svc := range c.services.All.Store().List("") {
			if concerned(svc) {
				c.loop.EnqueueFor(controller.KeyOf(svc), n)
			}
		}
	}
	everybody := func(*corev1.Service) bool { return true }
	zone := func(n *corev1.Node) string { return n.Labels[corev1.LabelTopologyZone] }
	return controller.Handles(c.nodes, informer.Handler[*corev1.Node]{
		Add: func(n *corev1.Node, initial bool) {
			switch {
			case initial:
			case zone(n) != "":
				wake(n, everybody)
			case bears(n):
				wake(n, balanced)
			}
		},
		Update: func(old, n *corev1.Node) {
			switch {
			case zone(old) != zone(n):
				wake(n, everybody)
			case bears(old) != bears(n) || bears(n) && !old.Status.Allocatable.Cpu().Equal(*n.Status.Allocatable.Cpu()):
				wake(n, balanced)
			}
		},
		Delete: func(n *corev1.Node) {
			if bears(n) {
				wake(n, balanced)
			}
		},
	})
}
