// Package controlplanetest starts control planes for tests, and has the clients and objects that several of them use.
package controlplanetest

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

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
)

// Start starts a control plane and stops it at the test's end. Without an address it listens on a free port of
// loopback; without a data directory and etcd it keeps its objects in memory.
func Start(t testing.TB, o controlplane.Options) *controlplane.ControlPlane {
	t.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.DataDir == "" {
		o.DataDir, o.InMemory = t.TempDir(), len(o.Etcd.Servers) == 0
	}
	cp, err := controlplane.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cp
}

// Client returns this project's client of an administrator.
func Client(t testing.TB, cp *controlplane.ControlPlane) *client.Client {
	t.Helper()
	c, err := client.New(cp.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Clientset returns client-go's client of an administrator, without a limit of its rate.
func Clientset(t testing.TB, cp *controlplane.ControlPlane) *kubernetes.Clientset {
	t.Helper()
	config := cp.Config()
	config.QPS = -1
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Getter returns a function that reads a path with the given pairs of header fields. The function returns the status
// code and the body.
func Getter(t testing.TB, config *rest.Config) func(path string, header ...string) (int, string) {
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

// Service returns a Service with a cluster IP; an empty one is allocated.
func Service(name, clusterIP string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{
		ClusterIP: clusterIP, Selector: map[string]string{"app": name}, Ports: []corev1.ServicePort{{Port: 80}},
	}}
}

// ServiceCIDR returns a range of cluster IPs.
func ServiceCIDR(name, cidr string) *networkingv1.ServiceCIDR {
	return &networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{cidr}}}
}

// ServicesByIP maps the names of the IPAddresses to their Services.
func ServicesByIP(ctx context.Context, t testing.TB, c kubernetes.Interface) map[string]string {
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
