package controlplane_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// TestClusterIPs: services get their addresses from ServiceCIDRs, and each service's
// IPAddress is created and deleted in the service's transaction.
func TestClusterIPs(t *testing.T) {
	c := controlplanetest.Clientset(t, controlplanetest.Start(t, controlplane.Options{Controllers: []string{"servicecidr"}}))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	services, cidrs, addresses := c.CoreV1().Services("default"), c.NetworkingV1().ServiceCIDRs(), c.NetworkingV1().IPAddresses()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := func(s *corev1.Service, why string) {
		t.Helper()
		_, err := services.Create(ctx, s, metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want a refusal with %q", err, why)
		}
	}
	if of := controlplanetest.ServicesByIP(ctx, t, c); len(of) != 1 || of["10.96.0.1"] != "default/kubernetes" {
		t.Errorf("at the start there are %v", of)
	}

	watch, err := addresses.Watch(ctx, metav1.ListOptions{})
	must(err)
	defer watch.Stop()
	web, err := services.Create(ctx, controlplanetest.Service("web", ""), metav1.CreateOptions{})
	must(err)
	a, err := addresses.Get(ctx, web.Spec.ClusterIP, metav1.GetOptions{})
	must(err)
	if a.ResourceVersion != web.ResourceVersion || a.UID == "" || a.CreationTimestamp.IsZero() ||
		a.Labels["ipaddress.kubernetes.io/ip-family"] != "IPv4" || a.Labels["ipaddress.kubernetes.io/managed-by"] != "ipallocator.k8s.io" ||
		*a.Spec.ParentRef != (networkingv1.ParentReference{Resource: "services", Namespace: "default", Name: "web"}) {
		t.Errorf("the IPAddress of %s is %+v", web.ResourceVersion, a)
	}
	for e := range watch.ResultChan() {
		if e.Object.(*networkingv1.IPAddress).Name == web.Spec.ClusterIP {
			break // watchers see an object that was written in another object's transaction
		}
	}
	_, err = services.Create(ctx, controlplanetest.Service("dry", ""), metav1.CreateOptions{DryRun: []string{"All"}})
	must(err)
	refused(controlplanetest.Service("again", web.Spec.ClusterIP), "failed to allocate IP "+web.Spec.ClusterIP+": provided IP is already allocated")
	refused(controlplanetest.Service("far", "203.0.113.14"), "failed to allocate IP 203.0.113.14: the provided network does not match the current range")
	refused(controlplanetest.Service("network", "10.96.0.0"), "the provided network does not match the current range")
	if of := controlplanetest.ServicesByIP(ctx, t, c); len(of) != 2 {
		t.Errorf("after the refusals there are %v", of)
	}

	// No service gets the address of an IPAddress that a user created.
	_, err = addresses.Create(ctx, &networkingv1.IPAddress{ObjectMeta: metav1.ObjectMeta{Name: "10.96.0.20"},
		Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{Group: "example.com", Resource: "gateways", Name: "g"}}}, metav1.CreateOptions{})
	must(err)
	refused(controlplanetest.Service("blocked", "10.96.0.20"), "provided IP is already allocated")

	// The IPAddress of a service is created again after a user deleted it.
	must(addresses.Delete(ctx, web.Spec.ClusterIP, metav1.DeleteOptions{}))
	if of := controlplanetest.ServicesByIP(ctx, t, c); of[web.Spec.ClusterIP] != "default/web" {
		t.Errorf("after the IPAddress of web was deleted there are %v", of)
	}

	// A service that becomes an ExternalName releases its address. It gets one again with
	// another type.
	_, err = services.Patch(ctx, "web", types.MergePatchType, []byte(`{"spec":{"type":"ExternalName","externalName":"example.com","clusterIP":null,"clusterIPs":null}}`), metav1.PatchOptions{})
	must(err)
	if of := controlplanetest.ServicesByIP(ctx, t, c); len(of) != 2 {
		t.Errorf("with web an external name there are %v", of)
	}
	web, err = services.Patch(ctx, "web", types.MergePatchType, []byte(`{"spec":{"type":"ClusterIP","externalName":null}}`), metav1.PatchOptions{})
	must(err)
	if of := controlplanetest.ServicesByIP(ctx, t, c); of[web.Spec.ClusterIP] != "default/web" {
		t.Errorf("%s is not in %v", web.Spec.ClusterIP, of)
	}

	// A second ServiceCIDR, as in upstream's "Service CIDRs should create Services and serve on
	// different Service CIDRs".
	_, err = cidrs.Create(ctx, controlplanetest.ServiceCIDR("more", "203.0.113.0/29"), metav1.CreateOptions{})
	must(err)
	more := readyCIDR(ctx, t, c, "more", metav1.ConditionTrue)
	if len(more.Finalizers) != 1 {
		t.Errorf("%+v", more.ObjectMeta)
	}
	_, err = services.Create(ctx, controlplanetest.Service("there", "203.0.113.4"), metav1.CreateOptions{})
	must(err)
	if of := controlplanetest.ServicesByIP(ctx, t, c); of["203.0.113.4"] != "default/there" {
		t.Errorf("the IPAddresses are %v", of)
	}
	must(cidrs.Delete(ctx, "more", metav1.DeleteOptions{}))
	held := readyCIDR(ctx, t, c, "more", metav1.ConditionFalse)
	if m := held.Status.Conditions[0].Message; !strings.Contains(m, "There are still IPAddresses referencing the ServiceCIDR") {
		t.Errorf("it waits: %s", m)
	}
	refused(controlplanetest.Service("late", "203.0.113.5"), "the provided network does not match the current range")
	going, err := cidrs.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=more"})
	must(err)
	defer going.Stop()
	must(c.CoreV1().RESTClient().Delete().Namespace("default").Resource("services").Param("fieldSelector", "metadata.name=there").Do(ctx).Error())
	deleted := false
	for e := range going.ResultChan() {
		if deleted = e.Type == apiwatch.Deleted; deleted {
			break
		}
	}
	if !deleted {
		t.Error("the range stays without an address in use")
	}
	must(services.Delete(ctx, "web", metav1.DeleteOptions{}))
	if of := controlplanetest.ServicesByIP(ctx, t, c); len(of) != 2 || of["10.96.0.20"] == "" || of["10.96.0.1"] == "" {
		t.Errorf("in the end there are %v", of)
	}
}

func readyCIDR(ctx context.Context, t *testing.T, c kubernetes.Interface, name string, want metav1.ConditionStatus) *networkingv1.ServiceCIDR {
	t.Helper()
	watch, err := c.NetworkingV1().ServiceCIDRs().Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	for e := range watch.ResultChan() {
		r := e.Object.(*networkingv1.ServiceCIDR)
		if s := r.Status.Conditions; len(s) == 1 && s[0].Status == want {
			return r
		}
	}
	t.Fatalf("%s does not become Ready=%s", name, want)
	return nil
}

// TestClusterIPsOfEarlierRelease: a server that opens a data directory without IPAddresses
// creates them before the first request, and deletes those without a service.
func TestClusterIPsOfEarlierRelease(t *testing.T) {
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
	leaked, _ := json.Marshal(&networkingv1.IPAddress{
		TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "IPAddress"},
		ObjectMeta: metav1.ObjectMeta{Name: "10.96.9.9", UID: "leaked", CreationTimestamp: metav1.Unix(1_600_000_000, 0),
			Labels: map[string]string{networkingv1.LabelManagedBy: "ipallocator.k8s.io"}},
		Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{Resource: "services", Namespace: "default", Name: "gone"}},
	})
	_, err = store.Commit(t.Context(), storage.Txn{Then: []storage.Op{
		{Type: storage.Delete, Key: "/registry/ipaddresses/10.96.7.7"}, {Type: storage.Delete, Key: "/registry/ipaddresses/10.96.0.1"},
		{Type: storage.Put, Key: "/registry/ipaddresses/10.96.9.9", Value: leaked},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	c = controlplanetest.Clientset(t, controlplanetest.Start(t, controlplane.Options{DataDir: dir}))
	of := controlplanetest.ServicesByIP(t.Context(), t, c)
	if len(of) != 2 || of[web.Spec.ClusterIP] != "default/web" || of["10.96.0.1"] != "default/kubernetes" {
		t.Errorf("after the start there are %v", of)
	}
}
