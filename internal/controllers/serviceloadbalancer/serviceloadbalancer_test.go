package serviceloadbalancer_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controllers/serviceloadbalancer"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

const finalizer = "service.kubernetes.io/load-balancer-cleanup"

// cluster is a control plane with a pool.
type cluster struct {
	*testing.T
	services client.Resource[*corev1.Service]
	events   client.Resource[*corev1.Event]
}

func start(t *testing.T, o controlplane.Options, pool ...string) (*controlplane.ControlPlane, cluster) {
	t.Helper()
	var err error
	if o.Ranges.LoadBalancers.Pool, err = serviceloadbalancer.ParsePool(pool); err != nil {
		t.Fatal(err)
	}
	o.Controllers = []string{"serviceloadbalancer"}
	cp := controlplanetest.Start(t, o)
	c := controlplanetest.Client(t, cp)
	return cp, cluster{t, client.For[*corev1.Service](c).Namespace("default"), client.For[*corev1.Event](c).Namespace("default")}
}

func (c cluster) create(name string, change ...func(*corev1.ServiceSpec)) {
	c.Helper()
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	for _, f := range change {
		f(&s.Spec)
	}
	if _, err := c.services.Create(c.Context(), s); err != nil {
		c.Fatal(err)
	}
}

func (c cluster) patch(name string, spec map[string]any) {
	c.Helper()
	if _, err := c.services.Patch(c.Context(), name, client.MergePatch(map[string]any{"spec": spec})); err != nil {
		c.Fatal(err)
	}
}

func (c cluster) remove(name string) {
	c.Helper()
	if err := c.services.Delete(c.Context(), name); err != nil {
		c.Fatal(err)
	}
}

// gets waits until a Service has that address and no other.
func (c cluster) gets(name, want string) {
	c.Helper()
	waittest.One(c, c.services, name, name+" to have "+want, func(s *corev1.Service) bool {
		in := s.Status.LoadBalancer.Ingress
		return len(in) == 1 && in[0].IP == want && in[0].IPMode != nil && *in[0].IPMode == corev1.LoadBalancerIPModeVIP &&
			slices.Contains(s.Finalizers, finalizer)
	})
}

// told waits for an event of a Service.
func (c cluster) told(name, reason, message string) {
	c.Helper()
	waittest.For(c, c.events, "the event "+reason+" of "+name, "", func(all map[string]*corev1.Event) bool {
		for _, e := range all {
			if e.InvolvedObject.Name == name && e.Reason == reason && strings.Contains(e.Message, message) && e.Source.Component == "service-controller" {
				return true
			}
		}
		return false
	})
}

// TestThePoolIsShared: Services get the addresses of a pool but its first and last. A Service that finds none gets that of one
// that is deleted or changes its type.
func TestThePoolIsShared(t *testing.T) {
	_, c := start(t, controlplane.Options{}, "192.0.2.0/30", "192.0.2.8/32")
	c.create("other", func(s *corev1.ServiceSpec) { s.LoadBalancerClass = ptr.To("example.com/other") })
	c.create("plain", func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeNodePort })
	for name, want := range map[string]string{"a": "192.0.2.1", "b": "192.0.2.2", "c": "192.0.2.8"} {
		c.create(name, func(s *corev1.ServiceSpec) { s.LoadBalancerIP = want })
		c.gets(name, want)
	}
	c.told("a", "EnsuredLoadBalancer", "Ensured load balancer")
	c.create("d")
	c.told("d", "SyncLoadBalancerFailed", "no IPv4 address of the pool is free")
	c.remove("b")
	c.gets("d", "192.0.2.2")
	waittest.Gone(t, c.services, "b")
	c.told("b", "DeletedLoadBalancer", "Deleted load balancer")
	c.create("e")
	c.told("e", "SyncLoadBalancerFailed", "no IPv4 address of the pool is free")
	c.patch("a", map[string]any{"type": "ClusterIP"})
	c.gets("e", "192.0.2.1")
	waittest.One(t, c.services, "a", "a without a load balancer", func(s *corev1.Service) bool {
		return len(s.Status.LoadBalancer.Ingress) == 0 && len(s.Finalizers) == 0
	})
	for _, name := range []string{"other", "plain"} {
		if s, err := c.services.Get(t.Context(), name); err != nil || len(s.Status.LoadBalancer.Ingress) > 0 || len(s.Finalizers) > 0 {
			t.Errorf("%s: %v, %v, %v", name, s.Finalizers, s.Status.LoadBalancer, err)
		}
	}
}

// TestAnAddressIsAskedFor: a Service may ask for an address, and for another one later.
func TestAnAddressIsAskedFor(t *testing.T) {
	_, c := start(t, controlplane.Options{}, "192.0.2.0/28")
	ask := func(ip string) func(*corev1.ServiceSpec) {
		return func(s *corev1.ServiceSpec) { s.LoadBalancerIP = ip }
	}
	c.create("a", ask("192.0.2.5"))
	c.gets("a", "192.0.2.5")
	c.create("b", ask("192.0.2.5"))
	c.told("b", "SyncLoadBalancerFailed", "another Service has the address 192.0.2.5")
	c.create("outside", ask("198.51.100.1"))
	c.told("outside", "SyncLoadBalancerFailed", "the address 198.51.100.1 is not in the pool")
	c.create("broadcast", ask("192.0.2.15"))
	c.told("broadcast", "SyncLoadBalancerFailed", "the address 192.0.2.15 is not in the pool")
	c.patch("a", map[string]any{"loadBalancerIP": "192.0.2.7"})
	c.gets("a", "192.0.2.7")
	c.gets("b", "192.0.2.5")
	c.patch("outside", map[string]any{"loadBalancerIP": nil})
	c.gets("outside", "192.0.2.1")
}

// TestAddressesAreKept: after a restart, Services keep their addresses; one that is not in the pool any more is replaced.
func TestAddressesAreKept(t *testing.T) {
	o := controlplane.Options{DataDir: t.TempDir()}
	cp, c := start(t, o, "192.0.2.0/29", "198.51.100.0/29")
	c.create("x")
	c.gets("x", "192.0.2.1")
	c.create("a")
	c.gets("a", "192.0.2.2")
	c.create("b", func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "198.51.100.3" })
	c.gets("b", "198.51.100.3")
	c.patch("b", map[string]any{"loadBalancerIP": nil})
	c.remove("x")
	waittest.Gone(t, c.services, "x")
	if err := cp.Stop(); err != nil {
		t.Fatal(err)
	}
	_, c = start(t, o, "192.0.2.0/29")
	c.gets("b", "192.0.2.1") // the first that is free
	c.gets("a", "192.0.2.2")
}
