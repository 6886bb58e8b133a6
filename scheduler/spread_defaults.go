package scheduler

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// spreadDefaults is how pods without constraints of their own are spread among the pods
// that their services and their owner select.
type spreadDefaults struct {
	constraints []corev1.TopologySpreadConstraint
	// builtin: nobody chose them; they take nodes that lack a topology key as they are.
	builtin bool
}

// builtinSpread is over nodes, and less strictly over zones.
var builtinSpread = &spreadDefaults{builtin: true, constraints: []corev1.TopologySpreadConstraint{
	{TopologyKey: corev1.LabelHostname, MaxSkew: 3, WhenUnsatisfiable: corev1.ScheduleAnyway},
	{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 5, WhenUnsatisfiable: corev1.ScheduleAnyway},
}}

// hard says whether any of them must hold.
func (d *spreadDefaults) hard() bool {
	for i := range d.constraints {
		if d.constraints[i].WhenUnsatisfiable == corev1.DoNotSchedule {
			return true
		}
	}
	return false
}

// rules are p's own, those that must hold or the others, or in want of any the defaults.
// A node must have the topology keys of strict rules.
func (d *spreadDefaults) rules(c *Cluster, p *PodInfo, hard bool) (rules []*spreadRule, strict bool) {
	if len(p.spread) > 0 {
		for i := range p.spread {
			if p.spread[i].hard == hard {
				rules = append(rules, &p.spread[i])
			}
		}
		return rules, true
	}
	var kin labels.Selector
	for i := range d.constraints {
		k := &d.constraints[i]
		if hard != (k.WhenUnsatisfiable == corev1.DoNotSchedule) {
			continue
		}
		if kin == nil {
			if kin = c.kin(p); kin.Empty() {
				return nil, !d.builtin
			}
		}
		r := newSpreadRule(p.Pod.Namespace, kin, k.TopologyKey, int64(k.MaxSkew))
		r.hard = hard
		if len(rules) > 0 {
			r.matcher = rules[0].matcher
		}
		r.readPolicies(k)
		rules = append(rules, &r)
	}
	return rules, !d.builtin
}

// kin selects the pods of the same services and the same owner as p.
func (c *Cluster) kin(p *PodInfo) labels.Selector {
	set := labels.Set{}
	for _, svc := range c.objects.Services(p.Pod.Namespace, p.Pod.Labels) {
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
	if byOwner := c.objects.OwnerSelector(p.Pod.Namespace, owner); byOwner != nil {
		if own, err := metav1.LabelSelectorAsSelector(byOwner); err == nil {
			if reqs, ok := own.Requirements(); ok {
				s = s.Add(reqs...)
			}
		}
	}
	return s
}
