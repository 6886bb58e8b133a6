package controlplane_test

import (
	"context"
	"io"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/controlplane"
)

func startForServices(t *testing.T, o controlplane.Options) (*controlplane.ControlPlane, kubernetes.Interface) {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	return startListening(t, o)
}

func startListening(t *testing.T, o controlplane.Options) (*controlplane.ControlPlane, kubernetes.Interface) {
	t.Helper()
	if o.DataDir == "" {
		o.DataDir, o.InMemory = t.TempDir(), len(o.Etcd.Servers) == 0
	}
	cp, err := controlplane.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cp.Stop() })
	config := cp.Config()
	config.QPS = -1
	return cp, kubernetes.NewForConfigOrDie(config)
}

func serviceAt(name, ip string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{
		ClusterIP: ip, Selector: map[string]string{"app": name}, Ports: []corev1.ServicePort{{Port: 80}},
	}}
}

func serviceCIDR(name, cidr string) *networkingv1.ServiceCIDR {
	return &networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{cidr}}}
}

// addressesOf maps the names of the IPAddresses to their services.
func addressesOf(ctx context.Context, t *testing.T, c kubernetes.Interface) map[string]string {
	t.Helper()
	list, err := c.NetworkingV1().IPAddresses().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{}
	for _, a := range list.Items {
		of[a.Name] = a.Spec.ParentRef.Namespace + "/" + a.Spec.ParentRef.Name
	}
	return of
}

func getter(t *testing.T, config *rest.Config) func(path string, header ...string) (int, string) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return func(path string, header ...string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
}
