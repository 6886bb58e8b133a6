package nodeipam_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/nodeipam"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// cluster is a control plane whose nodes get ranges.
type cluster struct {
	*testing.T
	nodes  client.Resource[*corev1.Node]
	events client.Resource[*corev1.Event]
	ranges client.Resource[*networkingv1.ServiceCIDR]
}

func start(t *testing.T, o controlplane.Options, sizes nodeipam.Sizes, cidrs ...string) (*controlplane.ControlPlane, cluster) {
	t.Helper()
	ranges, err := nodeipam.Ranges(cidrs, sizes)
	if err != nil {
		t.Fatal(err)
	}
	o.Controllers, o.Ranges.Nodes.Ranges = []string{"nodeipam"}, ranges
	cp := controlplanetest.Start(t, o)
	c := controlplanetest.Client(t, cp)
	return cp, cluster{t, client.For[*corev1.Node](c), client.For[*corev1.Event](c).Namespace("default"), client.For[*networkingv1.ServiceCIDR](c)}
}

func (c cluster) create(name string, cidrs ...string) {
	c.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{PodCIDRs: cidrs}}
	if _, err := c.nodes.Create(c.Context(), n); err != nil {
		c.Fatal(err)
	}
}

func (c cluster) remove(name string) {
	c.Helper()
	if err := c.nodes.Delete(c.Context(), name); err != nil {
		c.Fatal(err)
	}
}

// gets waits until a node has ranges, and checks them.
func (c cluster) gets(name string, want ...string) {
	c.Helper()
	n := waittest.One(c, c.nodes, name, "podCIDRs of "+name, func(n *corev1.Node) bool { return len(n.Spec.PodCIDRs) > 0 })
	if !slices.Equal(n.Spec.PodCIDRs, want) || n.Spec.PodCIDR != want[0] {
		c.Errorf("%s has %s and %v, want %v", name, n.Spec.PodCIDR, n.Spec.PodCIDRs, want)
	}
}

// lacks waits for the event of a node that gets no range.
func (c cluster) lacks(name string) {
	c.Helper()
	waittest.For(c, c.events, "the event of "+name, "", func(all map[string]*corev1.Event) bool {
		for _, e := range all {
			if e.InvolvedObject.Kind == "Node" && e.InvolvedObject.Name == name && e.Reason == "CIDRNotAvailable" &&
				e.Type == corev1.EventTypeNormal && e.Message == fmt.Sprintf("Node %s status is now: CIDRNotAvailable", name) && e.Source.Component == "cidrAllocator" {
				return true
			}
		}
		return false
	})
}

// TestARangeIsShared: nodes get the blocks that no node has and that are not for cluster IPs; when none is left, a node
// waits until another is deleted.
func TestARangeIsShared(t *testing.T) {
	o := controlplane.Options{}
	_, c := start(t, o, nodeipam.Sizes{Any: 26}, "10.200.0.0/24")
	c.create("brings", "10.200.0.64/26") // a block of the range
	c.create("foreign", "192.168.0.0/24")
	c.create("a")
	c.gets("a", "10.200.0.0/26")
	c.create("b")
	c.gets("b", "10.200.0.128/26")
	c.create("c")
	c.gets("c", "10.200.0.192/26")
	c.create("d")
	c.lacks("d")
	c.remove("foreign") // frees nothing
	c.remove("brings")
	c.gets("d", "10.200.0.64/26")
	c.remove("b")
	c.create("b") // of the same name
	c.gets("b", "10.200.0.128/26")
}

// TestServiceRanges: no node gets addresses of a ServiceCIDR, until that is deleted.
func TestServiceRanges(t *testing.T) {
	_, c := start(t, controlplane.Options{}, nodeipam.Sizes{}, "10.96.0.0/11", "fd00:10:96::/56") // 10.96.0.0/12 are cluster IPs
	if _, err := c.ranges.Create(t.Context(), &networkingv1.ServiceCIDR{
		ObjectMeta: metav1.ObjectMeta{Name: "six"}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"fd00:10:96::/112"}},
	}); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, c.ranges, "six", "the range", func(*networkingv1.ServiceCIDR) bool { return true })
	c.create("a")
	n := waittest.One(t, c.nodes, "a", "podCIDRs", func(n *corev1.Node) bool { return len(n.Spec.PodCIDRs) > 0 })
	if n.Spec.PodCIDRs[0] != "10.112.0.0/24" || len(n.Spec.PodCIDRs) != 2 {
		t.Errorf("a has %v, want 10.112.0.0/24 and one of IPv6", n.Spec.PodCIDRs)
	}
}

// TestRangesAreKept: after a restart, nodes keep their ranges, and a new node gets another one.
func TestRangesAreKept(t *testing.T) {
	o := controlplane.Options{DataDir: t.TempDir()}
	sizes := nodeipam.Sizes{IPv4: 25, IPv6: 112}
	cp, c := start(t, o, sizes, "10.200.0.0/23", "fd00::/108")
	for i, want := range [][]string{{"10.200.0.0/25", "fd00::/112"}, {"10.200.0.128/25", "fd00::1:0/112"}} {
		c.create(fmt.Sprint("n", i))
		c.gets(fmt.Sprint("n", i), want...)
	}
	if err := cp.Stop(); err != nil {
		t.Fatal(err)
	}
	_, c = start(t, o, sizes, "10.200.0.0/23", "fd00::/108")
	c.gets("n1", "10.200.0.128/25", "fd00::1:0/112")
	c.create("n2")
	c.gets("n2", "10.200.1.0/25", "fd00::2:0/112")
}

// TestSimulatedNodes: simulated nodes bring ranges that the others do not use.
func TestSimulatedNodes(t *testing.T) {
	_, c := start(t, controlplane.Options{Nodes: 2}, nodeipam.Sizes{}, "10.128.0.0/9")
	c.gets("node-1", "100.64.0.0/24")
	c.create("other")
	c.gets("other", "10.128.0.0/24")
}

// TestBadFlags checks the errors of flags.
func TestBadFlags(t *testing.T) {
	for _, tc := range []struct {
		cidrs []string
		sizes nodeipam.Sizes
		want  string
	}{
		{[]string{"10.0.0.0"}, nodeipam.Sizes{}, `--cluster-cidr: netip.ParsePrefix("10.0.0.0"): no '/'`},
		{[]string{"10.0.0.0/16", "10.1.0.0/16"}, nodeipam.Sizes{}, "--cluster-cidr: both ranges are of one family; want one of IPv4 and one of IPv6"},
		{[]string{"10.0.0.0/16", "fd00::/48", "fd01::/48"}, nodeipam.Sizes{}, "--cluster-cidr: 3 ranges; want one, or one of IPv4 and one of IPv6"},
		{[]string{"10.0.0.0/16", "fd00::/48"}, nodeipam.Sizes{Any: 24}, "--node-cidr-mask-size is not for two ranges; use --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6"},
		{[]string{"10.0.0.0/16"}, nodeipam.Sizes{Any: 24, IPv4: 24}, "--node-cidr-mask-size excludes --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6"},
		{[]string{"10.0.0.0/16"}, nodeipam.Sizes{IPv6: 64}, "--node-cidr-mask-size-ipv6: the cluster has no IPv6 range"},
		{[]string{"fd00::/48"}, nodeipam.Sizes{IPv4: 24}, "--node-cidr-mask-size-ipv4: the cluster has no IPv4 range"},
		{[]string{"10.0.0.0/25"}, nodeipam.Sizes{}, "--node-cidr-mask-size-ipv4=24: want 25 to 32 for the range 10.0.0.0/25"},
		{[]string{"10.0.0.0/16"}, nodeipam.Sizes{Any: 33}, "--node-cidr-mask-size=33: want 16 to 32 for the range 10.0.0.0/16"},
		{[]string{"fd00::/40"}, nodeipam.Sizes{}, "--node-cidr-mask-size-ipv6=64: want at most 56 for the range fd00::/40"},
	} {
		if _, err := nodeipam.Ranges(tc.cidrs, tc.sizes); fmt.Sprint(err) != tc.want {
			t.Errorf("%v, %+v: %v, want %s", tc.cidrs, tc.sizes, err, tc.want)
		}
	}
}
