package why

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// service counts a service's endpoints, and explains why it has no ready ones.
func (a *Explanation) service(s *Subject) {
	if s.text("spec", "type") == "ExternalName" {
		a.State = "is an alias of " + s.text("spec", "externalName")
		return
	}
	ready, all, pods := 0, 0, 0
	for _, p := range s.Parts {
		switch p.Kind {
		case "EndpointSlice":
			r, n := endpoints(&p)
			ready, all = ready+r, all+n
		case "Pod":
			pods += 1 + len(p.Alike)
		}
	}
	selector, _ := s.at("spec", "selector").(map[string]any)
	switch {
	case slices.Contains(s.Forbidden, "endpointslices.discovery.k8s.io"):
		a.Reasons = append(a.Reasons, "listing its EndpointSlices is forbidden")
	case ready == 0:
		a.State, a.Waits = "has no ready endpoints", true
	default:
		a.State = fmt.Sprintf("has %d of %d endpoints ready", ready, all)
	}
	switch {
	case len(selector) == 0 && ready == 0:
		a.root(s, "it has no selector, so its creator has to create its EndpointSlices", "")
	case len(selector) == 0 || slices.Contains(s.Forbidden, "pods"):
	case pods == 0:
		a.Waits = true
		a.root(s, "its selector "+Selector(selector)+" matches no pod of the namespace", "compare the labels: "+s.kubectl("get", "pods", "--show-labels"))
	case ready == 0:
		a.pending(s, fmt.Sprintf("0 of the %d pods that match its selector %s are ready", pods, Selector(selector)))
	}
	if s.text("spec", "type") == "LoadBalancer" && len(s.list("status", "loadBalancer", "ingress")) == 0 {
		a.Waits = true
		a.root(s, "it has no address from a load balancer yet", "give the control plane addresses: fairlead up --load-balancer-pool=RANGE, or install a provider")
	}
}

// slice counts the endpoints of an EndpointSlice.
func (a *Explanation) slice(s *Subject) {
	ready, all := endpoints(s)
	a.State = fmt.Sprintf("has %d of %d endpoints ready", ready, all)
}

// endpoints counts the endpoints of a slice that are ready, and all.
func endpoints(s *Subject) (ready, all int) {
	for _, e := range s.list("endpoints") {
		all++
		conditions, _ := e["conditions"].(map[string]any)
		if r, set := conditions["ready"].(bool); r || !set { // unset means ready, by the API
			ready++
		}
	}
	return ready, all
}

// Selector formats the equality-based selector of a service: "app=web,tier=front".
func Selector(labels map[string]any) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, key+"="+str(labels[key]))
	}
	return strings.Join(parts, ",")
}
