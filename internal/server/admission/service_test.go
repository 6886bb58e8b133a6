package admission_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"fairlead.dev/internal/resource/networking"
	"fairlead.dev/internal/server/admission"
)

func service(name string, change func(*corev1.ServiceSpec)) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	s.Spec.Type = corev1.ServiceTypeClusterIP
	s.Spec.Selector = map[string]string{"app": name}
	s.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP}}
	if change != nil {
		change(&s.Spec)
	}
	return s
}

// cluster writes services as the server does: it runs admission and then stores them.
type cluster struct {
	world
	t *testing.T
	p *admission.ServiceAllocation
}

func newCluster(t *testing.T, cidr string, first, last int, have ...metav1.Object) cluster {
	w := newWorld()
	w["services"] = have
	w["servicecidrs"] = []metav1.Object{serviceCIDR("kubernetes", cidr)}
	for _, s := range have {
		for _, ip := range s.(*corev1.Service).Spec.ClusterIPs {
			w["ipaddresses"] = append(w["ipaddresses"], networking.NewIPAddress(netip.MustParseAddr(ip), s.(*corev1.Service)))
		}
	}
	return cluster{w, t, admission.NewServiceAllocation(w, admission.ServiceOptions{
		Families: []corev1.IPFamily{corev1.IPv4Protocol}, NodePorts: utilnet.PortRange{Base: first, Size: last - first + 1},
	})}
}

func serviceCIDR(name string, cidrs ...string) *networkingv1.ServiceCIDR {
	return &networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: cidrs}}
}

// settle completes a request that was written, with its companions.
func (c cluster) settle(r *admission.Request) {
	for _, m := range r.Companions() {
		all := slices.DeleteFunc(c.world["ipaddresses"], func(o metav1.Object) bool { return o.GetName() == m.Object.GetName() })
		if !m.Delete {
			all = append(all, m.Object)
		}
		c.world["ipaddresses"] = all
	}
	r.Done(true)
}

func (c cluster) create(s *corev1.Service) string {
	c.t.Helper()
	r := request(admission.Create, "services", s.Namespace, s.Name, s, nil)
	if err := admit(c.t, c.p, r); err != nil {
		return err.ErrStatus.Message
	}
	c.world["services"] = append(c.world["services"], s)
	c.settle(r)
	return ""
}

func (c cluster) update(s, old *corev1.Service) string {
	c.t.Helper()
	r := request(admission.Update, "services", s.Namespace, s.Name, s, old)
	if err := admit(c.t, c.p, r); err != nil {
		return err.ErrStatus.Message
	}
	for i, o := range c.world["services"] {
		if o.GetName() == s.Name {
			c.world["services"][i] = s
		}
	}
	c.settle(r)
	return ""
}

func (c cluster) remove(s *corev1.Service) {
	c.t.Helper()
	r := request(admission.Delete, "services", s.Namespace, s.Name, nil, s)
	if err := admit(c.t, c.p, r); err != nil {
		c.t.Fatal(err)
	}
	for i, o := range c.world["services"] {
		if o.GetName() == s.Name {
			c.world["services"] = append(c.world["services"][:i:i], c.world["services"][i+1:]...)
		}
	}
	c.settle(r)
}

func TestClusterIP(t *testing.T) {
	kubernetes := service("kubernetes", func(s *corev1.ServiceSpec) { s.ClusterIP, s.ClusterIPs = "10.0.0.1", []string{"10.0.0.1"} })
	c := newCluster(t, "10.0.0.0/29", 30000, 30010, kubernetes) // .1 to .6
	var all []*corev1.Service
	seen := map[string]bool{"10.0.0.1": true}
	for i := range 5 {
		s := service(fmt.Sprintf("s%d", i), nil)
		if err := c.create(s); err != "" {
			t.Fatal(err)
		}
		ip := netip.MustParseAddr(s.Spec.ClusterIP)
		if seen[s.Spec.ClusterIP] || !netip.MustParsePrefix("10.0.0.0/29").Contains(ip) || s.Spec.ClusterIPs[0] != s.Spec.ClusterIP ||
			s.Spec.IPFamilies[0] != corev1.IPv4Protocol || *s.Spec.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack {
			t.Errorf("%s is at %+v", s.Name, s.Spec)
		}
		seen[s.Spec.ClusterIP] = true
		all = append(all, s)
	}
	if err := c.create(service("full", nil)); !strings.Contains(err, "range is full") {
		t.Errorf("when all are taken: %s", err)
	}
	at := func(ip string) *corev1.Service {
		return service("fixed", func(s *corev1.ServiceSpec) { s.ClusterIP, s.ClusterIPs = ip, []string{ip} })
	}
	taken := all[2].Spec.ClusterIP
	want := fmt.Sprintf(`Service "fixed" is invalid: spec.clusterIPs: Invalid value: ["%s"]: failed to allocate IP %s: provided IP is already allocated`, taken, taken)
	if err := c.create(at(taken)); err != want {
		t.Errorf("a taken one:\n%s\n%s", err, want)
	}
	if err := c.create(at("10.1.0.1")); !strings.Contains(err, "the provided network does not match the current range") {
		t.Errorf("one of another network: %s", err)
	}
	for _, ip := range []string{"10.0.0.0", "10.0.0.7"} {
		if err := c.create(at(ip)); !strings.Contains(err, "the provided network does not match the current range") {
			t.Errorf("%s: %s", ip, err)
		}
	}
	if err := c.create(at("fd00::1")); !strings.Contains(err, "IPv6 is not configured on this cluster") {
		t.Errorf("another family: %s", err)
	}
	c.remove(all[2])
	if err := c.create(at(taken)); err != "" {
		t.Errorf("one that was given back: %s", err)
	}

	headless := service("headless", func(s *corev1.ServiceSpec) { s.ClusterIP = corev1.ClusterIPNone })
	if err := c.create(headless); err != "" || headless.Spec.ClusterIPs[0] != corev1.ClusterIPNone {
		t.Errorf("headless: %s %+v", err, headless.Spec)
	}
	bare := service("bare", func(s *corev1.ServiceSpec) { s.ClusterIP, s.Selector = corev1.ClusterIPNone, nil })
	if err := c.create(bare); err != "" || len(bare.Spec.IPFamilies) != 2 || *bare.Spec.IPFamilyPolicy != corev1.IPFamilyPolicyRequireDualStack {
		t.Errorf("headless without a selector: %s %+v", err, bare.Spec)
	}
	external := service("ext", func(s *corev1.ServiceSpec) { s.Type, s.ExternalName = corev1.ServiceTypeExternalName, "example.com" })
	if err := c.create(external); err != "" || external.Spec.ClusterIP != "" || external.Spec.IPFamilyPolicy != nil {
		t.Errorf("an external name: %s %+v", err, external.Spec)
	}
	dual := service("dual", func(s *corev1.ServiceSpec) { p := corev1.IPFamilyPolicyRequireDualStack; s.IPFamilyPolicy = &p })
	if err := c.create(dual); !strings.Contains(err, "this cluster is not configured for dual-stack services") {
		t.Errorf("dual stack: %s", err)
	}
}

// TestNotWritten checks that the allocations of failed writes and dry runs are released.
func TestNotWritten(t *testing.T) {
	c := newCluster(t, "10.0.0.0/30", 30000, 30000) // .1 and .2
	for i := range 5 {
		s := service("s", func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeNodePort })
		r := request(admission.Create, "services", "shop", "s", s, nil)
		r.DryRun = i%2 == 0
		port := int32(30000)
		if r.DryRun {
			port = 32769 // a placeholder
		}
		if err := admit(t, c.p, r); err != nil || s.Spec.ClusterIP == "" || s.Spec.Ports[0].NodePort != port {
			t.Fatalf("time %d: %v %+v", i, err, s.Spec)
		}
		if !r.DryRun {
			r.Done(false)
		}
	}
	// A rejection by a later plugin releases the allocation too.
	refuse := admission.Chain{c.p, refusal{}}
	for range 3 {
		r := request(admission.Create, "services", "shop", "s", service("s", nil), nil)
		if err := refuse.All(context.Background(), r); err == nil || strings.Contains(err.Error(), "full") {
			t.Fatal(err)
		}
	}
}

type refusal struct{}

func (refusal) Name() string { return "Refusal" }
func (refusal) Validate(context.Context, *admission.Request) error {
	return fmt.Errorf("no")
}

func TestNodePorts(t *testing.T) {
	c := newCluster(t, "10.0.0.0/24", 30000, 30003)
	nodePort := func(name string, ports ...corev1.ServicePort) *corev1.Service {
		return service(name, func(s *corev1.ServiceSpec) { s.Type, s.Ports = corev1.ServiceTypeNodePort, ports })
	}
	dns := nodePort("dns", corev1.ServicePort{Port: 53, Protocol: "UDP"}, corev1.ServicePort{Port: 53, Protocol: "TCP"}, corev1.ServicePort{Port: 80})
	if err := c.create(dns); err != "" {
		t.Fatal(err)
	}
	p := dns.Spec.Ports
	if p[0].NodePort == 0 || p[0].NodePort != p[1].NodePort || p[2].NodePort == p[0].NodePort {
		t.Errorf("ports are %+v", p)
	}
	want := fmt.Sprintf(`Service "again" is invalid: spec.ports[0].nodePort: Invalid value: %d: provided port is already allocated`, p[0].NodePort)
	if err := c.create(nodePort("again", corev1.ServicePort{Port: 1, NodePort: p[0].NodePort})); err != want {
		t.Errorf("a taken port: %s", err)
	}
	if err := c.create(nodePort("far", corev1.ServicePort{Port: 1, NodePort: 80})); !strings.Contains(err, "provided port is not in the valid range. The range of valid ports is 30000-30003") {
		t.Errorf("a port outside: %s", err)
	}
	two := nodePort("two", corev1.ServicePort{Name: "a", Port: 1}, corev1.ServicePort{Name: "b", Port: 2})
	if err := c.create(two); err != "" {
		t.Fatal(err)
	}
	if err := c.create(nodePort("full", corev1.ServicePort{Port: 1})); !strings.Contains(err, "failed to allocate a nodePort: range is full") {
		t.Errorf("when all are taken: %s", err)
	}

	// An update without addresses and ports keeps the present ones.
	same := nodePort("two", corev1.ServicePort{Name: "a", Port: 1}, corev1.ServicePort{Name: "b", Port: 2})
	if err := c.update(same, two); err != "" || same.Spec.Ports[0].NodePort != two.Spec.Ports[0].NodePort || same.Spec.ClusterIP != two.Spec.ClusterIP {
		t.Errorf("kept: %s %+v", err, same.Spec)
	}
	// Changing it into a ClusterIP service releases the ports.
	plain := same.DeepCopy()
	plain.Spec.Type = corev1.ServiceTypeClusterIP
	if err := c.update(plain, same); err != "" || plain.Spec.Ports[0].NodePort != 0 || plain.Spec.ClusterIP != same.Spec.ClusterIP {
		t.Errorf("plain: %s %+v", err, plain.Spec)
	}
	if err := c.create(nodePort("next", corev1.ServicePort{Port: 1}, corev1.ServicePort{Port: 2})); err != "" {
		t.Errorf("ports given back: %s", err)
	}
	// Changing it into an ExternalName service releases the address; changing it back allocates one again.
	external := plain.DeepCopy()
	external.Spec.Type, external.Spec.ExternalName = corev1.ServiceTypeExternalName, "example.com"
	if err := c.update(external, plain); err != "" || external.Spec.ClusterIP != "" || len(external.Spec.ClusterIPs) != 0 {
		t.Errorf("external: %s %+v", err, external.Spec)
	}
	back := external.DeepCopy()
	back.Spec.Type, back.Spec.ExternalName = corev1.ServiceTypeClusterIP, ""
	if err := c.update(back, external); err != "" || back.Spec.ClusterIP == "" {
		t.Errorf("back: %s %+v", err, back.Spec)
	}
}

// TestAtOnce checks that services created at the same time never share an address.
func TestAtOnce(t *testing.T) {
	c := newCluster(t, "10.0.0.0/24", 30000, 30100)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]string{}
	for i := range 100 {
		wg.Go(func() {
			s := service(fmt.Sprintf("s%d", i), nil)
			r := request(admission.Create, "services", "shop", s.Name, s, nil)
			if err := c.p.Complete(context.Background(), r); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if other := seen[s.Spec.ClusterIP]; other != "" {
				t.Errorf("%s and %s are both at %s", other, s.Name, s.Spec.ClusterIP)
			}
			seen[s.Spec.ClusterIP] = s.Name
		})
	}
	wg.Wait()
}
