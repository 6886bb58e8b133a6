package why

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ingress describes an ingress.
func (a *Explanation) ingress(s *Subject) {
	services := s.routes()
	a.State = fmt.Sprintf("routes to %s", strings.Join(services, ", "))
	if len(services) == 0 {
		a.State = "routes to no Service"
	}
	if len(s.list("status", "loadBalancer", "ingress")) == 0 {
		a.State += ", has no address of an ingress controller yet"
	}
}

// autoscaler describes a HorizontalPodAutoscaler.
func (a *Explanation) autoscaler(s *Subject) {
	now, want := s.number("status", "currentReplicas"), s.number("status", "desiredReplicas")
	least := int64(1)
	if n, ok := s.at("spec", "minReplicas").(float64); ok {
		least = int64(n)
	}
	a.State = fmt.Sprintf("has %d replicas, wants %d, of %d to %d", now, want, least, s.number("spec", "maxReplicas"))
	if c := s.condition("ScalingLimited"); c != nil && str(c["status"]) == "True" {
		a.Reasons = append(a.Reasons, because(str(c["reason"]), str(c["message"])))
	}
	if s.condition("AbleToScale") == nil {
		a.Waits = true
		a.pending(s, "the horizontal-pod-autoscaler controller has not looked at it yet")
	}
}

// budget describes a PodDisruptionBudget.
func (a *Explanation) budget(s *Subject) {
	healthy, desired := s.number("status", "currentHealthy"), s.number("status", "desiredHealthy")
	a.State = fmt.Sprintf("allows %d disruptions: %d pods are healthy, %d are desired", s.number("status", "disruptionsAllowed"), healthy, desired)
	if healthy < desired {
		a.Waits = true
		a.pending(s, fmt.Sprintf("%d of %d desired pods are healthy, so no pod may be evicted", healthy, desired))
	}
}

// quota lists the resources of a quota.
func (a *Explanation) quota(s *Subject) {
	hard, _ := s.at("status", "hard").(map[string]any)
	used, _ := s.at("status", "used").(map[string]any)
	full := 0
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		text := fmt.Sprintf("%s: %s of %s are used", name, str(used[name]), str(hard[name]))
		if str(used[name]) == str(hard[name]) && str(hard[name]) != "0" {
			full++
			text += ", so no more can be created"
		}
		a.Reasons = append(a.Reasons, text)
	}
	a.State = fmt.Sprintf("limits %d resources, %d are used up", len(hard), full)
}

// webhooks describes the configuration of admission webhooks.
func (a *Explanation) webhooks(s *Subject) {
	all := s.list("webhooks")
	a.State = fmt.Sprintf("has %d webhooks", len(all))
	for _, w := range all {
		hook := Subject{Object: w}
		text := fmt.Sprintf("webhook %s: failurePolicy %s", str(w["name"]), str(w["failurePolicy"]))
		if url := hook.text("clientConfig", "url"); url != "" {
			text += ", at " + url
		}
		a.Reasons = append(a.Reasons, text)
	}
	for _, p := range s.Parts {
		if p.Kind == "Service" && p.Object != nil && p.brief().Waits {
			a.Waits = true
		}
	}
}

// definition describes a CustomResourceDefinition.
func (a *Explanation) definition(s *Subject) {
	var served []string
	for _, v := range s.list("spec", "versions") {
		if v["served"] == true {
			served = append(served, str(v["name"]))
		}
	}
	a.State = "serves " + strings.Join(served, ", ")
	if s.condition("Established") == nil {
		a.Waits = true
		a.pending(s, "it is not established yet")
	}
}
