//lint:file-ignore SA1019 Endpoints are deprecated, and served

package endpointslicemirroring_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

const mirrors = "endpointslice.kubernetes.io/managed-by=endpointslicemirroring-controller.k8s.io"

// spell formats a slice's family, ports and endpoints in one line.
func spell(s *discoveryv1.EndpointSlice) string {
	var ports, endpoints []string
	for _, p := range s.Ports {
		ports = append(ports, fmt.Sprint(*p.Name, ":", *p.Port))
	}
	for _, e := range s.Endpoints {
		state := "ready"
		if !*e.Conditions.Ready {
			state = "not ready"
		}
		endpoints = append(endpoints, e.Addresses[0]+" "+state)
	}
	return fmt.Sprintf("%s %s: %s", s.AddressType, strings.Join(ports, ","), strings.Join(endpoints, ", "))
}

func mirrored(want ...string) func(map[string]*discoveryv1.EndpointSlice) bool {
	return func(have map[string]*discoveryv1.EndpointSlice) bool {
		var got []string
		for _, s := range have {
			got = append(got, spell(s))
		}
		slices.Sort(got)
		return slices.Equal(got, want)
	}
}

func TestEndpointsAreMirrored(t *testing.T) {
	env := testenv.New(t, testenv.Options{Controllers: []string{"endpoints", "endpointslice", "endpointslicemirroring", "garbagecollector"}})
	c := env.Client(t)
	services := client.For[*corev1.Service](c).Namespace("default")
	endpoints := client.For[*corev1.Endpoints](c).Namespace("default")
	all := client.For[*discoveryv1.EndpointSlice](c).Namespace("default")

	if _, err := services.Create(t.Context(), &corev1.Service{ // before the Endpoints: the endpoints controller deletes those without one when it starts
		ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "default"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "sql", Port: 5432}}},
	}); err != nil {
		t.Fatal(err)
	}
	ep, err := endpoints.Create(t.Context(), &corev1.Endpoints{
		ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "default", Labels: map[string]string{"tier": "data"}, Annotations: map[string]string{"by": "hand"}},
		Subsets: []corev1.EndpointSubset{
			{Addresses: []corev1.EndpointAddress{{IP: "10.0.0.1"}, {IP: "fd00::1"}}, Ports: []corev1.EndpointPort{{Name: "sql", Port: 5432}}},
			{NotReadyAddresses: []corev1.EndpointAddress{{IP: "10.0.0.2"}}, Ports: []corev1.EndpointPort{{Name: "sql", Port: 5432}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]*discoveryv1.EndpointSlice{}
	waittest.For(t, all, "both families", mirrors, func(now map[string]*discoveryv1.EndpointSlice) bool {
		have = now
		return mirrored("IPv4 sql:5432: 10.0.0.1 ready, 10.0.0.2 not ready", "IPv6 sql:5432: fd00::1 ready")(now)
	})
	names := []string{}
	for name, s := range have {
		names = append(names, name)
		if s.Labels["tier"] != "data" || s.Annotations["by"] != "hand" || s.Labels[discoveryv1.LabelServiceName] != "db" || !metav1.IsControlledBy(s, ep) {
			t.Errorf("%s: %v %v %v", name, s.Labels, s.Annotations, s.OwnerReferences)
		}
	}

	// A changed port keeps the slices; removing the only address of a slice deletes it.
	ep.Subsets = []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: "10.0.0.1"}}, Ports: []corev1.EndpointPort{{Name: "sql", Port: 6000}}}}
	if _, err := endpoints.Update(t.Context(), ep); err != nil {
		t.Fatal(err)
	}
	waittest.For(t, all, "one address", mirrors, func(now map[string]*discoveryv1.EndpointSlice) bool {
		for name := range now {
			if !slices.Contains(names, name) {
				t.Errorf("%s is new", name)
			}
		}
		return mirrored("IPv4 sql:6000: 10.0.0.1 ready")(now)
	})

	// A deleted mirror is recreated; one of Endpoints with skip-mirror is deleted.
	if err := all.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: mirrors}); err != nil {
		t.Fatal(err)
	}
	waittest.For(t, all, "it again", mirrors, func(now map[string]*discoveryv1.EndpointSlice) bool {
		for name := range now {
			if slices.Contains(names, name) {
				return false
			}
		}
		return mirrored("IPv4 sql:6000: 10.0.0.1 ready")(now)
	})
	skip := client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{discoveryv1.LabelSkipMirror: "true"}}})
	if _, err := endpoints.Patch(t.Context(), "db", skip); err != nil {
		t.Fatal(err)
	}
	waittest.For(t, all, "none", mirrors, mirrored())
}
