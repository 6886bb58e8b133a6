package scheduling

import (
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var compositeTable = resource.TableOf(func(g *schedulingv1alpha3.CompositePodGroup) []any {
	policy, workload := "Basic", "<none>"
	if g.Spec.SchedulingPolicy.Gang != nil {
		policy = "Gang"
	}
	if ref := g.Spec.WorkloadRef; ref != nil {
		workload = ref.WorkloadName
	}
	return []any{g.Name, policy, workload, resource.AgeOf(g)}
},
	resource.NameColumn,
	resource.Text("Policy", "How the groups in this group are scheduled: Basic or Gang."),
	resource.Text("Workload", "The Workload from whose template the group was made."),
	resource.AgeColumn,
)

// compositeStrategy returns the strategy of groups of pod groups. Their generation stays as it was sent, as in kube-apiserver.
func compositeStrategy() resource.Strategy {
	r := resource.SpecAndStatus(func(g *schedulingv1alpha3.CompositePodGroup) (*schedulingv1alpha3.CompositePodGroupSpec, *schedulingv1alpha3.CompositePodGroupStatus) {
		return &g.Spec, &g.Status
	}).KeepMeta()
	r.Default = func(g *schedulingv1alpha3.CompositePodGroup) {
		resource.SetDefault(&g.Spec.PreemptionPolicy, schedulingv1alpha3.PreemptLowerPriority)
		if g.Spec.DisruptionMode == nil {
			g.Spec.DisruptionMode = &schedulingv1alpha3.CompositeDisruptionMode{Single: &schedulingv1alpha3.SingleCompositeDisruptionMode{}}
		}
	}
	r.Validate = func(g *schedulingv1alpha3.CompositePodGroup) field.ErrorList { return validateComposite(g, nil) }
	r.ValidateUpdate = validateComposite
	r.ValidateStatusUpdate = func(g, _ *schedulingv1alpha3.CompositePodGroup) field.ErrorList {
		return metavalidation.ValidateConditions(g.Status.Conditions, field.NewPath("status", "conditions"))
	}
	r.RequireResourceVersion = true
	return r.Strategy()
}

// validateComposite checks a group of groups. All of its spec has to be that of old, which is nil for a new group.
func validateComposite(g, old *schedulingv1alpha3.CompositePodGroup) field.ErrorList {
	v, s := validator{update: old != nil}, &g.Spec
	was := s
	if old != nil {
		was = &old.Spec
	}
	p := check.At("spec")
	v.parent(p, s.ParentCompositePodGroupName, was.ParentCompositePodGroupName)
	v.workloadRef(p.Child("workloadRef"), (*schedulingv1beta1.WorkloadReference)(s.WorkloadRef), (*schedulingv1beta1.WorkloadReference)(was.WorkloadRef))
	if s.WorkloadRef == nil && (old == nil || was.WorkloadRef != nil) {
		v.Required(p.Child("workloadRef"), "")
	}
	now, then := templateOf(s), templateOf(was)
	if at := p.Child("schedulingPolicy"); v.examine(at, now.SchedulingPolicy, then.SchedulingPolicy) {
		v.compositePolicy(at, now, then)
	}
	v.compositeParts(p, now, then)
	return v.List()
}

// templateOf returns the parts of a spec that templates have, too, in the version in which they are stored.
func templateOf(s *schedulingv1alpha3.CompositePodGroupSpec) *schedulingv1beta1.CompositePodGroupTemplate {
	t := &schedulingv1beta1.CompositePodGroupTemplate{
		PriorityClassName: s.PriorityClassName,
		Priority:          s.Priority,
		PreemptionPolicy:  (*schedulingv1beta1.PreemptionPolicy)(s.PreemptionPolicy),
	}
	t.SchedulingPolicy.Basic = (*schedulingv1beta1.CompositeBasicSchedulingPolicy)(s.SchedulingPolicy.Basic)
	t.SchedulingPolicy.Gang = (*schedulingv1beta1.CompositeGangSchedulingPolicy)(s.SchedulingPolicy.Gang)
	if c := s.SchedulingConstraints; c != nil {
		t.SchedulingConstraints = &schedulingv1beta1.CompositePodGroupSchedulingConstraints{}
		for _, key := range c.Topology {
			t.SchedulingConstraints.Topology = append(t.SchedulingConstraints.Topology, schedulingv1beta1.TopologyConstraint(key))
		}
	}
	if m := s.DisruptionMode; m != nil {
		t.DisruptionMode = &schedulingv1beta1.CompositeDisruptionMode{
			Single: (*schedulingv1beta1.SingleCompositeDisruptionMode)(m.Single),
			All:    (*schedulingv1beta1.AllCompositeDisruptionMode)(m.All),
		}
	}
	return t
}

// compositePolicy checks the policy of a group of groups.
func (v *validator) compositePolicy(p *check.Path, t, old *schedulingv1beta1.CompositePodGroupTemplate) {
	of := func(s *schedulingv1beta1.CompositePodGroupSchedulingPolicy) policy {
		all := policy{basic: s.Basic != nil, gang: s.Gang != nil, field: "minGroupCount"}
		if all.gang {
			all.count = s.Gang.MinGroupCount
		}
		return all
	}
	v.policy(p, of(&t.SchedulingPolicy), of(&old.SchedulingPolicy))
}

// compositeParts checks the parts of groups of groups and of their templates other than the policy.
func (v *validator) compositeParts(p *check.Path, t, old *schedulingv1beta1.CompositePodGroupTemplate) {
	v.constraints(p.Child("schedulingConstraints"),
		(*schedulingv1beta1.PodGroupSchedulingConstraints)(t.SchedulingConstraints), (*schedulingv1beta1.PodGroupSchedulingConstraints)(old.SchedulingConstraints))
	if m, at := t.DisruptionMode, p.Child("disruptionMode"); v.examine(at, m, old.DisruptionMode) && m != nil {
		v.oneOf(at, [2]bool{m.Single != nil, m.All != nil}, [2]string{"single", "all"})
	}
	v.priority(p, t.PriorityClassName, old.PriorityClassName, t.Priority, old.Priority)
	v.preemption(p, t.PreemptionPolicy, old.PreemptionPolicy)
}

// parent checks the name of the group that a group is in.
func (v *validator) parent(p *check.Path, name, old *string) {
	if at := p.Child("parentCompositePodGroupName"); v.examine(at, name, old) && name != nil {
		v.Subdomain(at, *name)
	}
}
