package scheduling

import (
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var groupTable = resource.TableOf(func(g *schedulingv1beta1.PodGroup) []any {
	policy, workload, status := "Basic", "<none>", "Pending"
	if g.Spec.SchedulingPolicy.Gang != nil {
		policy = "Gang"
	}
	if ref := g.Spec.WorkloadRef; ref != nil {
		workload = ref.WorkloadName
	}
	if c := apimeta.FindStatusCondition(g.Status.Conditions, schedulingv1beta1.PodGroupInitiallyScheduled); c != nil {
		status = "Unschedulable"
		if c.Status == metav1.ConditionTrue {
			status = "Scheduled"
		}
	}
	if c := apimeta.FindStatusCondition(g.Status.Conditions, schedulingv1beta1.DisruptionTarget); c != nil {
		status = c.Reason
	}
	return []any{g.Name, policy, workload, status, resource.AgeOf(g)}
},
	resource.NameColumn,
	resource.Text("Policy", "How the group's pods are scheduled: Basic or Gang."),
	resource.Text("Workload", "The Workload from whose template the group was made."),
	resource.Text("Status", "Whether the group has been scheduled."),
	resource.AgeColumn,
)

// groupStrategy returns the strategy of pod groups. Their generation stays as it was sent, as in kube-apiserver.
func groupStrategy() resource.Strategy {
	r := resource.SpecAndStatus(func(g *schedulingv1beta1.PodGroup) (*schedulingv1beta1.PodGroupSpec, *schedulingv1beta1.PodGroupStatus) {
		return &g.Spec, &g.Status
	}).KeepMeta()
	r.Default = func(g *schedulingv1beta1.PodGroup) {
		resource.SetDefault(&g.Spec.PreemptionPolicy, schedulingv1beta1.PreemptLowerPriority)
		if g.Spec.DisruptionMode == nil {
			g.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}
		}
	}
	r.Validate = func(g *schedulingv1beta1.PodGroup) field.ErrorList { return validateGroup(g, nil) }
	r.ValidateUpdate = validateGroup
	r.ValidateStatusUpdate = func(g, old *schedulingv1beta1.PodGroup) field.ErrorList {
		var v validator
		v.Add(metavalidation.ValidateConditions(g.Status.Conditions, field.NewPath("status", "conditions"))...)
		v.claimStatuses(check.At("status", "resourceClaimStatuses"), g, old)
		return v.List()
	}
	r.RequireResourceVersion = true
	return r.Strategy()
}

// validateGroup checks a group. Of its spec only the gang's minCount may differ from that of old, which is nil for a new group.
func validateGroup(g, old *schedulingv1beta1.PodGroup) field.ErrorList {
	v, s := validator{update: old != nil}, &g.Spec
	was := s
	if old != nil {
		was = &old.Spec
	}
	p := check.At("spec")
	v.parent(p, s.ParentCompositePodGroupName, was.ParentCompositePodGroupName)
	if old == nil && s.ParentCompositePodGroupName != nil && s.WorkloadRef == nil {
		v.Required(p.Child("workloadRef"), "must be set when parentCompositePodGroupName is set")
	}
	v.workloadRef(p.Child("workloadRef"), s.WorkloadRef, was.WorkloadRef)
	v.policy(p.Child("schedulingPolicy"), podPolicy(&s.SchedulingPolicy), podPolicy(&was.SchedulingPolicy))
	v.constraints(p.Child("schedulingConstraints"), s.SchedulingConstraints, was.SchedulingConstraints)
	v.claims(p.Child("resourceClaims"), s.ResourceClaims, was.ResourceClaims)
	v.disruption(p.Child("disruptionMode"), s.DisruptionMode, was.DisruptionMode)
	v.priority(p, s.PriorityClassName, was.PriorityClassName, s.Priority, was.Priority)
	v.preemption(p, s.PreemptionPolicy, was.PreemptionPolicy)
	return v.List()
}

func (v *validator) workloadRef(p *check.Path, ref, old *schedulingv1beta1.WorkloadReference) {
	if !v.examine(p, ref, old) || ref == nil {
		return
	}
	if ref.WorkloadName == "" {
		v.Required(p.Child("workloadName"), "")
	} else {
		v.Subdomain(p.Child("workloadName"), ref.WorkloadName)
	}
	if ref.TemplateName == "" {
		v.Required(p.Child("templateName"), "")
	} else {
		v.Label(p.Child("templateName"), ref.TemplateName)
	}
}
