//lint:file-ignore SA1019 Endpoints are deprecated, and served

package endpoints_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

func made(name string) *corev1.Endpoints {
	return &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Name: name},
		Subsets: []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: "10.1.2.3"}}}}}
}

func service(name string, selector map[string]string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{Selector: selector, Ports: []corev1.ServicePort{{Port: 80}}}}
}

func create[T client.Object](t *testing.T, r client.Resource[T], o T) {
	t.Helper()
	if _, err := r.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// User-created Endpoints of a Service without a selector are deleted with it; those without a Service stay until
// the controller restarts.
func TestEndpointsGoWithTheirService(t *testing.T) {
	options := testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"endpoints"}, DataDir: t.TempDir()}
	env := testenv.New(t, options)
	c := env.Client(t)
	services, endpoints := client.For[*corev1.Service](c).Namespace("default"), client.For[*corev1.Endpoints](c).Namespace("default")
	// The controller has its first list when it creates these, so the following objects arrive as events.
	create(t, services, service("first", map[string]string{"app": "first"}))
	waittest.One(t, endpoints, "first", "made", func(*corev1.Endpoints) bool { return true })
	create(t, services, service("theirs", nil))
	create(t, endpoints, made("theirs"))
	create(t, endpoints, made("nobodys"))
	elects := made("elects")
	elects.Annotations = map[string]string{"control-plane.alpha.kubernetes.io/leader": "{}"}
	create(t, endpoints, elects)
	if err := services.Delete(t.Context(), "theirs"); err != nil {
		t.Fatal(err)
	}
	waittest.Gone(t, endpoints, "theirs")
	if _, err := endpoints.Get(t.Context(), "nobodys"); err != nil {
		t.Fatal(err)
	}
	if err := env.Stop(); err != nil {
		t.Fatal(err)
	}

	endpoints = client.For[*corev1.Endpoints](testenv.New(t, options).Client(t)).Namespace("default")
	waittest.Gone(t, endpoints, "nobodys")
	for _, name := range []string{"elects", "kubernetes"} {
		if _, err := endpoints.Get(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
}

// Endpoints whose Service the controller has not seen yet stay.
func TestTheWatchOfServicesIsBehind(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"endpoints"}})
	c := env.Client(t)
	services, endpoints := client.For[*corev1.Service](c).Namespace("default"), client.For[*corev1.Endpoints](c).Namespace("default")
	create(t, services, service("first", map[string]string{"app": "first"}))
	waittest.One(t, endpoints, "first", "made", func(*corev1.Endpoints) bool { return true })
	if _, err := env.AddFault(t.Context(), testenv.Fault{Action: "hold", Resource: "services"}); err != nil {
		t.Fatal(err)
	}
	create(t, services, service("unseen", nil))
	for _, name := range []string{"unseen", "without"} { // the second one's end shows that both have been examined
		ep := made(name)
		ep.Labels = map[string]string{"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
		create(t, endpoints, ep)
	}
	waittest.Gone(t, endpoints, "without")
	if _, err := endpoints.Get(t.Context(), "unseen"); err != nil {
		t.Error(err)
	}
}

// A failed write is recorded as an event on the Endpoints.
func TestFailuresAreTold(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"endpoints", "resourcequota"}})
	c := env.Client(t)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/endpoints": {}}}}
	create(t, client.For[*corev1.Namespace](c), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "full"}})
	quotas := client.For[*corev1.ResourceQuota](c).Namespace("full")
	create(t, quotas, quota)
	waittest.One(t, quotas, "none", "the quota to count", func(q *corev1.ResourceQuota) bool { return len(q.Status.Used) > 0 })
	create(t, client.For[*corev1.Service](c).Namespace("full"), service("web", map[string]string{"a": "b"}))
	waittest.For(t, client.For[*corev1.Event](c).Namespace("full"), "the event", "", func(have map[string]*corev1.Event) bool {
		for _, e := range have {
			if e.Reason == "FailedToCreateEndpoint" && e.Type == "Warning" && e.Source.Component == "endpoint-controller" &&
				e.InvolvedObject.Kind == "Endpoints" && e.InvolvedObject.Name == "web" &&
				strings.HasPrefix(e.Message, `Failed to create endpoint for service full/web: endpoints "web" is forbidden: exceeded quota`) {
				return true
			}
		}
		return false
	})
}
