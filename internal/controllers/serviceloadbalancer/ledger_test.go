package serviceloadbalancer

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestFamilies: a Service gets an address of each of its families that the pool has, and keeps it.
func TestFamilies(t *testing.T) {
	pool, err := ParsePool([]string{"2001:db8::/64", "192.0.2.0/24"})
	if err != nil {
		t.Fatal(err)
	}
	exists := func() bool { return true }
	service := func(uid string, asks string, families ...corev1.IPFamily) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: uid, UID: types.UID(uid)}, Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, IPFamilies: families, LoadBalancerIP: asks}}
	}
	both, l := newLedger(pool), newLedger(pool[1:])
	for _, tc := range []struct {
		from *ledger
		s    *corev1.Service
		want string
	}{
		{both, service("a", "", "IPv4", "IPv6"), "[192.0.2.1 2001:db8::1] <nil>"},
		{both, service("b", "2001:db8::7", "IPv6", "IPv4"), "[2001:db8::7 192.0.2.2] <nil>"},
		{both, service("c", "", "IPv6"), "[2001:db8::2] <nil>"},
		{both, service("a", "", "IPv4", "IPv6"), "[192.0.2.1 2001:db8::1] <nil>"},
		{both, service("c", "", "IPv6", "IPv4"), "[2001:db8::2 192.0.2.3] <nil>"},
		{l, service("a", "", "IPv6", "IPv4"), "[192.0.2.1] <nil>"},
		{l, service("b", "", "IPv6"), "[] the pool has no addresses of the families [IPv6]"},
	} {
		all, err := tc.from.give(tc.s, exists)
		if got := fmt.Sprint(all, err); got != tc.want {
			t.Errorf("%s of %v: %s, want %s", tc.s.Name, tc.s.Spec.IPFamilies, got, tc.want)
		}
	}
	both.gone(service("a", ""))
	if all, err := both.give(service("d", "", "IPv6", "IPv4"), exists); fmt.Sprint(all, err) != "[2001:db8::1 192.0.2.1] <nil>" {
		t.Errorf("after a release: %v, %v", all, err)
	}
}
