//lint:file-ignore SA1019 Endpoints are deprecated, and served

package endpointslice_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// TestServiceFindsItsPods follows one Service through both forms of endpoints.
func TestServiceFindsItsPods(t *testing.T) {
	env := testenv.New(t, testenv.Options{})
	c := env.Client(t)
	services := client.For[*corev1.Service](c).Namespace("default")
	pods := client.For[*corev1.Pod](c).Namespace("default")
	slices := client.For[*discoveryv1.EndpointSlice](c).Namespace("default")
	endpoints := client.For[*corev1.Endpoints](c).Namespace("default")

	if _, err := services.Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default"},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "shop"},
			Ports:    []corev1.ServicePort{{Name: "web", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("http")}},
		},
	}); err != nil {
		t.Fatal(err)
	}
	ready := func(want ...string) func(map[string]*discoveryv1.EndpointSlice) bool {
		return func(have map[string]*discoveryv1.EndpointSlice) bool {
			got := map[string]bool{}
			for _, s := range have {
				for _, ep := range s.Endpoints {
					if *ep.Conditions.Ready && len(s.Ports) == 1 && *s.Ports[0].Port == 8080 && *s.Ports[0].Name == "web" && ep.NodeName != nil {
						got[ep.TargetRef.Name] = true
					}
				}
			}
			for _, n := range want {
				if !got[n] {
					return false
				}
			}
			return len(got) == len(want) && len(have) > 0
		}
	}
	const selector = "kubernetes.io/service-name=shop,endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io"
	waittest.For(t, slices, "an empty slice", selector, ready())

	for _, name := range []string{"a", "b"} {
		if _, err := pods.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"app": "shop"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "c", Image: "i", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
			}}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	waittest.For(t, slices, "both pods", selector, ready("a", "b"))
	waittest.One(t, endpoints, "shop", "both addresses", func(e *corev1.Endpoints) bool {
		return len(e.Subsets) == 1 && len(e.Subsets[0].Addresses) == 2 && e.Subsets[0].Ports[0].Port == 8080
	})

	if _, err := pods.Patch(t.Context(), "a", client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "other"}}})); err != nil {
		t.Fatal(err)
	}
	waittest.For(t, slices, "the other pod alone", selector, ready("b"))

	if err := services.Delete(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	waittest.Gone(t, endpoints, "shop")
	waittest.For(t, slices, "no slices", selector, func(have map[string]*discoveryv1.EndpointSlice) bool { return len(have) == 0 })
}

// A pod on a missing node has no endpoint, and the Service gets an event, until the node appears; a Service that
// publishes all addresses has the endpoint at once.
func TestPodsOfNoNodeAreLeftOut(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"endpointslice"}})
	c, ctx := env.Client(t), t.Context()
	pods := client.For[*corev1.Pod](c).Namespace("default")
	slices := client.For[*discoveryv1.EndpointSlice](c).Namespace("default")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	accounts := client.For[*corev1.ServiceAccount](c).Namespace("default")
	_, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	must(err)
	p, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"app": "a"}},
		Spec: corev1.PodSpec{NodeName: "far", Containers: []corev1.Container{{Name: "c", Image: "i"}}}})
	must(err)
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.1.2.3", PodIPs: []corev1.PodIP{{IP: "10.1.2.3"}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	_, err = pods.UpdateStatus(ctx, p)
	must(err)
	for _, all := range []bool{false, true} {
		svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "strict"}, Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "a"}, Ports: []corev1.ServicePort{{Port: 80}}, PublishNotReadyAddresses: all}}
		if all {
			svc.Name = "all"
		}
		_, err := client.For[*corev1.Service](c).Namespace("default").Create(ctx, svc)
		must(err)
	}
	has := func(service string, n int) {
		t.Helper()
		waittest.For(t, slices, service+"'s endpoints", "kubernetes.io/service-name="+service, func(have map[string]*discoveryv1.EndpointSlice) bool {
			found := 0
			for _, s := range have {
				found += len(s.Endpoints)
			}
			return len(have) == 1 && found == n
		})
	}
	has("all", 1)
	has("strict", 0)
	waittest.For(t, client.For[*corev1.Event](c).Namespace("default"), "the event", "", func(have map[string]*corev1.Event) bool {
		for _, e := range have {
			if e.Reason == "FailedToUpdateEndpointSlices" && e.Type == "Warning" && e.InvolvedObject.Kind == "Service" && e.InvolvedObject.Name == "strict" &&
				e.Message == "Error updating Endpoint Slices for Service default/strict: skipping Pod p for Service default/strict: Node far Not Found" {
				return true
			}
		}
		return false
	})
	_, err = client.For[*corev1.Node](c).Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "far"}})
	must(err)
	has("strict", 1)
}
