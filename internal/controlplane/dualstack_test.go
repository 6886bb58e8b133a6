package controlplane_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

var (
	servicesIPv4 = netip.MustParsePrefix("10.96.0.0/16")
	servicesIPv6 = netip.MustParsePrefix("fd00:10:96::/112")
)

// TestDualStack: with two ranges of cluster IPs, Services, their EndpointSlices, nodes and pods have addresses of both
// families. A cluster that had one range gets the second at its next start, and its Services keep their families.
func TestDualStack(t *testing.T) {
	o := controlplane.Options{
		DataDir: t.TempDir(), Controllers: []string{"*"}, Scheduler: true, Nodes: 1,
		Access: controlplane.Access{ServiceCIDRs: []netip.Prefix{servicesIPv4}},
	}
	o.Listen = "127.0.0.1:0"
	before, err := controlplane.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	first := controlplanetest.Client(t, before)
	createService(t, first, "old", corev1.IPFamilyPolicyPreferDualStack)
	waittest.One(t, client.For[*corev1.Node](first), "node-1", "its range", func(n *corev1.Node) bool { return n.Spec.PodCIDR != "" })
	if err := before.Stop(); err != nil {
		t.Fatal(err)
	}

	o.Nodes = 2
	o.Access.ServiceCIDRs = append(o.Access.ServiceCIDRs, servicesIPv6)
	c := controlplanetest.Client(t, controlplanetest.Start(t, o))
	waittest.One(t, client.For[*networkingv1.ServiceCIDR](c), "kubernetes", "both ranges", func(r *networkingv1.ServiceCIDR) bool {
		return slices.Equal(r.Spec.CIDRs, []string{servicesIPv4.String(), servicesIPv6.String()})
	})
	old, err := client.For[*corev1.Service](c).Namespace("default").Get(t.Context(), "old")
	if err != nil || len(old.Spec.ClusterIPs) != 1 {
		t.Errorf("a Service of the single-stack cluster: %v, %v", old, err)
	}
	for policy, families := range map[corev1.IPFamilyPolicy]int{
		corev1.IPFamilyPolicySingleStack: 1, corev1.IPFamilyPolicyPreferDualStack: 2, corev1.IPFamilyPolicyRequireDualStack: 2,
	} {
		s := createService(t, c, strings.ToLower(string(policy)), policy)
		if len(s.Spec.ClusterIPs) != families || !servicesIPv4.Contains(netip.MustParseAddr(s.Spec.ClusterIPs[0])) {
			t.Errorf("%s: %v", policy, s.Spec.ClusterIPs)
		}
		for _, ip := range s.Spec.ClusterIPs[1:] {
			if !servicesIPv6.Contains(netip.MustParseAddr(ip)) {
				t.Errorf("%s: %v", policy, s.Spec.ClusterIPs)
			}
			if _, err := client.For[*networkingv1.IPAddress](c).Get(t.Context(), ip); err != nil {
				t.Error(err)
			}
		}
	}

	pods := client.For[*corev1.Pod](c).Namespace("default")
	for name, host := range map[string]bool{"web": false, "host": true} {
		if _, err := pods.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
			Spec:       corev1.PodSpec{NodeName: "node-1", HostNetwork: host, Containers: []corev1.Container{{Name: "main", Image: "web"}}},
		}); err != nil {
			t.Fatal(err)
		}
		waittest.One(t, pods, name, "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	}
	get := func(name string) *corev1.Pod {
		p, err := pods.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	web, host := get("web"), get("host")
	fresh, err := client.For[*corev1.Node](c).Get(t.Context(), "node-2")
	if err != nil {
		t.Fatal(err)
	}
	node, err := client.For[*corev1.Node](c).Get(t.Context(), web.Spec.NodeName)
	if err != nil {
		t.Fatal(err)
	}
	hosts := []corev1.HostIP{{IP: "172.18.0.2"}, {IP: "fd00:172:16::ac12:2"}}
	for _, d := range []string{
		cmp.Diff([]corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: "172.18.0.2"}, {Type: corev1.NodeInternalIP, Address: "fd00:172:16::ac12:2"},
			{Type: corev1.NodeHostName, Address: "node-1"},
		}, node.Status.Addresses),
		cmp.Diff([]string{"10.128.0.0/24"}, node.Spec.PodCIDRs), // of the single-stack cluster; the field is immutable
		cmp.Diff([]string{"10.128.1.0/24", "fd00:10:128::a80:100/120"}, fresh.Spec.PodCIDRs),
		cmp.Diff([]corev1.PodIP{{IP: "10.128.0.2"}, {IP: "fd00:10:128::a80:2"}}, web.Status.PodIPs),
		cmp.Diff(hosts, web.Status.HostIPs),
		cmp.Diff([]corev1.PodIP{{IP: hosts[0].IP}, {IP: hosts[1].IP}}, host.Status.PodIPs),
	} {
		if d != "" {
			t.Error(d)
		}
	}
	waittest.For(t, client.For[*discoveryv1.EndpointSlice](c).Namespace("default"), "a slice for each family", "kubernetes.io/service-name=requiredualstack",
		func(have map[string]*discoveryv1.EndpointSlice) bool {
			var all []string
			for _, s := range have {
				for _, e := range s.Endpoints {
					all = append(all, string(s.AddressType)+" "+e.Addresses[0])
				}
			}
			slices.Sort(all)
			return slices.Equal(all, []string{"IPv4 10.128.0.2", "IPv6 fd00:10:128::a80:2"})
		})
}

func createService(t *testing.T, c *client.Client, name string, policy corev1.IPFamilyPolicy) *corev1.Service {
	t.Helper()
	s, err := client.For[*corev1.Service](c).Namespace("default").Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}}, IPFamilyPolicy: ptr.To(policy),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestIPv6Only: in a cluster of IPv6, the podIP and podCIDR are of IPv6.
func TestIPv6Only(t *testing.T) {
	c := controlplanetest.Client(t, controlplanetest.Start(t, controlplane.Options{
		Listen: "127.0.0.1:0", AdvertiseAddress: "fd00::1", Controllers: []string{"*"}, Scheduler: true, Nodes: 1,
		Access: controlplane.Access{ServiceCIDRs: []netip.Prefix{servicesIPv6}},
	}))
	pods := client.For[*corev1.Pod](c).Namespace("default")
	waittest.One(t, client.For[*corev1.ServiceAccount](c).Namespace("default"), "default", "the service account", func(*corev1.ServiceAccount) bool { return true })
	if _, err := pods.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web"}}},
	}); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, pods, "web", "its address", func(p *corev1.Pod) bool {
		return p.Status.PodIP == "fd00:10:128::a80:2" && len(p.Status.PodIPs) == 1 && p.Status.HostIP == "fd00:172:16::ac12:2"
	})
	kubernetes, err := client.For[*corev1.Service](c).Namespace("default").Get(t.Context(), "kubernetes")
	if err != nil || kubernetes.Spec.ClusterIP != "fd00:10:96::1" {
		t.Errorf("%v, %v", kubernetes, err)
	}
}
