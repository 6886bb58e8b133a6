package servicecidr_test

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// A range becomes ready. If it is deleted while a service has one of its addresses, the condition gives the reason
// why it stays, until the service is gone or another range contains the address.
func TestARangeInUseStays(t *testing.T) {
	t.Parallel() // it waits
	env := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"servicecidr"}})
	c, ctx := env.Client(t), t.Context()
	ranges := client.For[*networkingv1.ServiceCIDR](c)
	ready := func(name string, status metav1.ConditionStatus, reason, message string) {
		t.Helper()
		waittest.One(t, ranges, name, string(status)+" "+reason, func(r *networkingv1.ServiceCIDR) bool {
			is := meta.FindStatusCondition(r.Status.Conditions, "Ready")
			return is != nil && is.Status == status && is.Reason == reason && is.Message == message &&
				len(r.Finalizers) == 1 && r.Finalizers[0] == "networking.k8s.io/service-cidr-finalizer"
		})
	}
	create := func(name, cidr string) {
		t.Helper()
		if _, err := ranges.Create(ctx, &networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{cidr}}}); err != nil {
			t.Fatal(err)
		}
		ready(name, metav1.ConditionTrue, "", "Kubernetes Service CIDR is ready")
	}
	remove := func(name string) {
		t.Helper()
		if err := ranges.Delete(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	const held = "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR"
	ready("kubernetes", metav1.ConditionTrue, "", "Kubernetes Service CIDR is ready")
	create("free", "192.168.0.0/24")
	create("held", "172.16.0.0/24")
	addresses := client.For[*networkingv1.IPAddress](c)
	if _, err := addresses.Create(ctx, &networkingv1.IPAddress{
		ObjectMeta: metav1.ObjectMeta{Name: "172.16.0.7", Labels: map[string]string{"ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io"}},
		Spec:       networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{Resource: "services", Namespace: "default", Name: "web"}},
	}); err != nil {
		t.Fatal(err)
	}
	remove("free")
	remove("held")
	remove("kubernetes") // the service kubernetes has an address
	ready("held", metav1.ConditionFalse, "Terminating", held)
	ready("kubernetes", metav1.ConditionFalse, "Terminating", held)
	create("wider", "10.0.0.0/8")
	if err := addresses.Delete(ctx, "172.16.0.7"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"free", "held", "kubernetes"} {
		waittest.Gone(t, ranges, name)
	}
	remove("wider")
	ready("wider", metav1.ConditionFalse, "Terminating", held)
}
