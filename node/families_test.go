package node

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestSimulates: the addresses of both families are known, also of nodes whose kubelets listen at an address of their own, and
// where nodes are only adopted.
func TestSimulates(t *testing.T) {
	both := []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	for _, c := range []struct {
		name      string
		o         Options
		address   string
		simulated bool
	}{
		{"a node", Options{Count: 2, Families: both}, "172.18.0.3", true},
		{"a node by IPv6", Options{Count: 2, Families: both}, "fd00:172:16::ac12:3", true},
		{"a third node by IPv6", Options{Count: 2, Families: both}, "fd00:172:16::ac12:4", false},
		{"a pod by IPv6", Options{Count: 2, Families: both}, "fd00:10:128::a80:2", true},
		{"a pod by IPv6 in a cluster without it", Options{Count: 2}, "fd00:10:128::a80:2", false},
		{"a pod of nodes with an endpoint", Options{Count: 2, Families: both, Endpoint: netip.MustParseAddrPort("127.0.0.1:10250")}, "fd00:10:128::a80:2", true},
		{"another machine beside nodes with an endpoint", Options{Count: 2, Families: both, Endpoint: netip.MustParseAddrPort("127.0.0.1:10250")}, "fd00:172:16::ac12:3", false},
		{"a pod of an adopted node", Options{Adopt: true, Families: both}, "fd00:10:128::a80:2", true},
		{"no nodes", Options{Families: both}, "fd00:10:128::a80:2", false},
	} {
		if got := c.o.Simulates(netip.MustParseAddr(c.address)); got != c.simulated {
			t.Errorf("%s: %s is simulated: %t", c.name, c.address, got)
		}
	}
}
