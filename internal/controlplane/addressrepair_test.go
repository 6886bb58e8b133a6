package controlplane_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/memnet"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// managed is an IPAddress as the server makes them for a service in the namespace default.
func managed(ip, service string) *networkingv1.IPAddress {
	return &networkingv1.IPAddress{
		TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "IPAddress"},
		ObjectMeta: metav1.ObjectMeta{Name: ip, Labels: map[string]string{
			networkingv1.LabelManagedBy: "ipallocator.k8s.io", networkingv1.LabelIPAddressFamily: "IPv4"}},
		Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{Resource: "services", Namespace: "default", Name: service}},
	}
}

// TestUnusedAddresses checks when the server deletes IPAddresses that look like its own and that no Service uses.
func TestUnusedAddresses(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		cp, err := controlplane.Start(t.Context(), controlplane.Options{DataDir: dir, InMemory: true, Network: new(memnet.Network), VirtualTime: true})
		if err != nil {
			t.Fatal(err)
		}
		defer cp.Stop()
		c := kubernetes.NewForConfigOrDie(cp.Config())
		if _, err := c.CoreV1().Services("default").Create(t.Context(), controlplanetest.Service("web", "10.96.7.7"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		name := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "name"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "example.com"}}
		if _, err := c.CoreV1().Services("default").Create(t.Context(), name, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second) // the IPAddresses are younger than the Services
		foreign := managed("10.96.9.5", "")
		foreign.Spec.ParentRef = &networkingv1.ParentReference{Group: "example.com", Resource: "gateways", Name: "g"}
		own := managed("10.96.9.6", "gone")
		own.Labels = nil
		stay := map[string]time.Duration{ // 0 for ever
			"10.96.9.1": time.Minute, "10.96.9.2": time.Minute, "10.96.9.3": 5 * time.Second, "10.96.9.5": -1, "10.96.9.6": 0,
		}
		for _, a := range []*networkingv1.IPAddress{
			managed("10.96.9.1", "gone"), managed("10.96.9.2", "name"), managed("10.96.9.3", "web"), foreign, own,
		} {
			if _, err := c.NetworkingV1().IPAddresses().Create(t.Context(), a, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		for _, at := range []time.Duration{0, 3 * time.Second, 7 * time.Second, 58 * time.Second, 62 * time.Second, time.Hour} {
			time.Sleep(time.Until(began.Add(at)))
			synctest.Wait()
			for ip, left := range stay {
				_, err := c.NetworkingV1().IPAddresses().Get(t.Context(), ip, metav1.GetOptions{})
				if there := left == 0 || at < left; there && err != nil || !there && !apierrors.IsNotFound(err) {
					t.Errorf("%s after %v: %v", ip, at, err)
				}
			}
		}
	})
}

// TestAddressesOfServices checks that a start repairs IPAddresses without the server's labels, and leaves Services outside
// all ServiceCIDRs alone.
func TestAddressesOfServices(t *testing.T) {
	dir := t.TempDir()
	cp := controlplanetest.Start(t, controlplane.Options{DataDir: dir})
	c := controlplanetest.Clientset(t, cp)
	web, err := c.CoreV1().Services("default").Create(t.Context(), controlplanetest.Service("web", "10.96.7.7"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.Stop(); err != nil {
		t.Fatal(err)
	}
	store, err := local.Open(filepath.Join(dir, "store"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bare := managed("10.96.7.7", "web")
	bare.UID, bare.Labels, bare.CreationTimestamp = "bare", nil, metav1.Unix(1_600_000_000, 0)
	far := web.DeepCopy()
	far.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}
	far.Name, far.UID, far.ResourceVersion, far.Spec.ClusterIP, far.Spec.ClusterIPs = "far", "far", "", "203.0.113.9", []string{"203.0.113.9"}
	text := func(obj any) []byte {
		b, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if _, err := store.Commit(t.Context(), storage.Txn{Then: []storage.Op{
		{Type: storage.Put, Key: "/registry/ipaddresses/10.96.7.7", Value: text(bare)},
		{Type: storage.Put, Key: "/registry/services/specs/default/far", Value: text(far)},
	}}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	c = controlplanetest.Clientset(t, controlplanetest.Start(t, controlplane.Options{DataDir: dir}))
	if a, err := c.NetworkingV1().IPAddresses().Get(t.Context(), "10.96.7.7", metav1.GetOptions{}); err != nil || a.UID == "bare" || a.Labels[networkingv1.LabelIPAddressFamily] != "IPv4" {
		t.Errorf("the IPAddress without labels is %+v, %v", a.ObjectMeta, err)
	}
	if _, err := c.CoreV1().Services("default").Get(t.Context(), "far", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	if a, err := c.NetworkingV1().IPAddresses().Get(t.Context(), "203.0.113.9", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the IPAddress outside all ranges is %+v, %v", a, err)
	}
}
