package plugins

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/internal/scheduler/cache"
)

// SpreadDefaults are the constraints of pods without constraints of their own. They spread the pods
// that the same services and owner select.
type SpreadDefaults struct {
	Constraints []corev1.TopologySpreadConstraint
	// builtin: they are the system's defaults, for which a node without a topology key is allowed.
	builtin bool
}

// systemSpread spreads over nodes, and less strictly over zones.
var systemSpread = &SpreadDefaults{builtin: true, Constraints: []corev1.TopologySpreadConstraint{
	{TopologyKey: corev1.LabelHostname, MaxSkew: 3, WhenUnsatisfiable: corev1.ScheduleAnyway},
	{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 5, WhenUnsatisfiable: corev1.ScheduleAnyway},
}}

// hasHard reports whether any of them is DoNotSchedule.
func (d *SpreadDefaults) hasHard() bool {
	for i := range d.Constraints {
		if d.Constraints[i].WhenUnsatisfiable == corev1.DoNotSchedule {
			return true
		}
	}
	return false
}

// constraintsOf returns p's own constraints, DoNotSchedule or ScheduleAnyway, or without any the
// defaults. A node must have the topology keys of strict constraints.
func (d *SpreadDefaults) constraintsOf(c *cache.Cluster, p *cache.PodInfo, hard bool) (rules []*cache.SpreadConstraint, strict bool) {
	if len(p.SpreadConstraints) > 0 {
		for i := range p.SpreadConstraints {
			if p.SpreadConstraints[i].DoNotSchedule == hard {
				rules = append(rules, &p.SpreadConstraints[i])
			}
		}
		return rules, true
	}
	var selector labels.Selector
	for i := range d.Constraints {
		k := &d.Constraints[i]
		if hard != (k.WhenUnsatisfiable == corev1.DoNotSchedule) {
			continue
		}
		if selector == nil {
			if selector = defaultSelector(c, p); selector.Empty() {
				return nil, !d.builtin
			}
		}
		r := cache.NewSpreadConstraint(p.Pod.Namespace, selector, k)
		if len(rules) > 0 {
			r.PodSelector = rules[0].PodSelector
		}
		rules = append(rules, &r)
	}
	return rules, !d.builtin
}

// defaultSelector selects the pods of the same services and the same owner as p.
func defaultSelector(c *cache.Cluster, p *cache.PodInfo) labels.Selector {
	set := labels.Set{}
	for _, svc := range c.Objects.Services(p.Pod.Namespace, p.Pod.Labels) {
		if len(svc.Spec.Selector) == 0 || !labels.SelectorFromSet(svc.Spec.Selector).Matches(labels.Set(p.Pod.Labels)) {
			continue
		}
		for k, v := range svc.Spec.Selector {
			set[k] = v
		}
	}
	s := set.AsSelector()
	owner := metav1.GetControllerOfNoCopy(p.Pod)
	if owner == nil {
		return s
	}
	if byOwner := c.Objects.OwnerSelector(p.Pod.Namespace, owner); byOwner != nil {
		if own, err := metav1.LabelSelectorAsSelector(byOwner); err == nil {
			if reqs, ok := own.Requirements(); ok {
				s = s.Add(reqs...)
			}
		}
	}
	return s
}
