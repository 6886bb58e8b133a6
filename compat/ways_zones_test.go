package compat

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// zones: endpoints with topology hints. It runs alone on the nodes, since each is in a zone
// of its own meanwhile.
func zones(p *place) {
	move := func(zone func(i int) string) {
		for i := 1; i <= 3; i++ {
			p.must(p.c.CoreV1().Nodes().Patch(p.ctx, fmt.Sprintf("node-%d", i), types.MergePatchType,
				fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, corev1.LabelTopologyZone, zone(i)), metav1.PatchOptions{}))
		}
	}
	move(func(i int) string { return fmt.Sprintf(`"zone-%d"`, i) })
	defer move(func(int) string { return "null" })
	for name, with := range map[string]func(*corev1.Service){
		"auto": func(s *corev1.Service) {
			s.Annotations = map[string]string{"service.kubernetes.io/topology-mode": "Auto"}
		},
		"near": func(s *corev1.Service) {
			s.Spec.TrafficDistribution = ptr.To(corev1.ServiceTrafficDistributionPreferSameZone)
		},
		"here": func(s *corev1.Service) {
			s.Spec.TrafficDistribution = ptr.To(corev1.ServiceTrafficDistributionPreferSameNode)
		},
	} {
		s := &corev1.Service{ObjectMeta: named(name), Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}}}}
		with(s)
		p.must(p.c.CoreV1().Services(p.ns).Create(p.ctx, s, metav1.CreateOptions{}))
	}
	// Two on each of two nodes, then two more: the third zone gets other zones' endpoints,
	// then its own.
	pods := func(node int, names ...string) {
		p.Helper()
		for _, name := range names {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}}, Spec: podSpec("web:1")}
			pod.Spec.NodeName = fmt.Sprintf("node-%d", node)
			p.must(p.c.CoreV1().Pods(p.ns).Create(p.ctx, pod, metav1.CreateOptions{}))
		}
	}
	record := func(service string, n int, each ...int) {
		p.Helper()
		s := see(p, "endpointslices", "", fmt.Sprintf("%d of %s", n, service), func(s *discoveryv1.EndpointSlice) bool {
			if s.Labels["kubernetes.io/service-name"] != service || len(s.Endpoints) != n {
				return false
			}
			have := map[string]int{}
			for _, e := range s.Endpoints {
				if e.Conditions.Ready == nil || !*e.Conditions.Ready {
					return false
				}
				if e.Hints != nil {
					for _, z := range e.Hints.ForZones {
						have[z.Name]++
					}
				}
			}
			return slices.Equal(slices.Sorted(maps.Values(have)), each)
		})
		hints := map[string]int{}
		for _, e := range s.Endpoints {
			if e.Hints == nil {
				hints["none"]++
				continue
			}
			for _, z := range e.Hints.ForZones {
				hints[z.Name]++
			}
			for _, n := range e.Hints.ForNodes {
				hints[n.Name]++
			}
		}
		for _, to := range slices.Sorted(maps.Keys(hints)) {
			p.saw("%d of %s: %d for %s", n, service, hints[to], to)
		}
	}
	pods(1, "a", "b")
	record("auto", 2)
	p.event("Service", "auto", "TopologyAwareHintsDisabled", "Insufficient number of endpoints (2 endpoints")
	pods(1, "c")
	pods(2, "d", "e", "f")
	record("auto", 6, 2, 2, 2)
	p.event("Service", "auto", "TopologyAwareHintsEnabled", "")
	record("near", 6, 3, 3)
	record("here", 6, 3, 3)
	pods(3, "g", "h", "i")
	record("auto", 9, 3, 3, 3)
	record("near", 9, 3, 3, 3)
	p.must(p.c.CoreV1().Services(p.ns).Patch(p.ctx, "auto", types.MergePatchType, []byte(`{"metadata":{"annotations":null}}`), metav1.PatchOptions{}))
	record("auto", 9)
	p.event("Service", "auto", "TopologyAwareHintsDisabled", "Topology Aware Hints has been disabled")
}
