package scheduling

import (
	"slices"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var workloadTable = resource.TableOf(func(w *schedulingv1beta1.Workload) []any {
	return []any{w.Name, resource.AgeOf(w)}
}, resource.NameColumn, resource.AgeColumn)

var workloadStrategy = resource.Rules[*schedulingv1beta1.Workload]{
	PrepareForCreate:       func(*schedulingv1beta1.Workload) {},
	PrepareForUpdate:       func(_, _ *schedulingv1beta1.Workload) {},
	Validate:               func(w *schedulingv1beta1.Workload) field.ErrorList { return validateWorkload(w, nil) },
	ValidateUpdate:         validateWorkload,
	RequireResourceVersion: true,
}.Strategy()

// validateWorkload checks a workload. Of its templates only the minCount of gangs may differ from those of old, which is nil
// for a new workload.
func validateWorkload(w, old *schedulingv1beta1.Workload) field.ErrorList {
	v, s := validator{update: old != nil}, &w.Spec
	was := s
	if old != nil {
		was = &old.Spec
	}
	p := check.At("spec")
	v.controllerRef(p.Child("controllerRef"), s.ControllerRef, was.ControllerRef)
	list := p.Child("podGroupTemplates")
	switch n := len(s.PodGroupTemplates); {
	case n == 0 && (old == nil || len(was.PodGroupTemplates) > 0):
		v.Invalid(p, "", "must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`")
	case n > schedulingv1beta1.WorkloadMaxPodGroupTemplates:
		v.Add(field.TooMany(list.Field(), n, schedulingv1beta1.WorkloadMaxPodGroupTemplates).WithOrigin("maxItems"))
		return v.List()
	}
	v.templates(list, s.PodGroupTemplates, was.PodGroupTemplates)
	if slices.ContainsFunc(s.PodGroupTemplates, func(t schedulingv1beta1.PodGroupTemplate) bool {
		first := &s.PodGroupTemplates[0]
		return t.PriorityClassName != first.PriorityClassName || !check.Same(t.Priority, first.Priority)
	}) {
		v.Invalid(p, nil, "detected multiple priority configurations")
	}
	return v.List()
}

// templates checks the templates by their names: none may come or go.
func (v *validator) templates(p *check.Path, list, old []schedulingv1beta1.PodGroupTemplate) {
	names := map[string]bool{}
	for i := range list {
		t, at := &list[i], p.Index(i)
		if names[t.Name] {
			v.Duplicate(at, asServed{t})
		}
		names[t.Name] = true
		k := slices.IndexFunc(old, func(o schedulingv1beta1.PodGroupTemplate) bool { return o.Name == t.Name })
		if v.update && k < 0 {
			v.Forbidden(at, "item may not be added")
			continue
		}
		v.template(at, t, &old[k])
	}
	for i := range old {
		if v.update && !names[old[i].Name] {
			v.Forbidden(p, "item may not be removed")
		}
	}
}

func (v *validator) template(p *check.Path, t, old *schedulingv1beta1.PodGroupTemplate) {
	switch {
	case v.update: // the name has not changed
	case t.Name == "":
		v.Required(p.Child("name"), "")
	default:
		v.Label(p.Child("name"), t.Name)
	}
	v.policy(p.Child("schedulingPolicy"), &t.SchedulingPolicy, &old.SchedulingPolicy)
	v.constraints(p.Child("schedulingConstraints"), t.SchedulingConstraints, old.SchedulingConstraints)
	v.claims(p.Child("resourceClaims"), t.ResourceClaims, old.ResourceClaims)
	v.disruption(p.Child("disruptionMode"), t.DisruptionMode, old.DisruptionMode)
	v.priority(p, t.PriorityClassName, old.PriorityClassName, t.Priority, old.Priority)
	v.preemption(p, t.PreemptionPolicy, old.PreemptionPolicy)
}

func (v *validator) controllerRef(p *check.Path, ref, old *schedulingv1beta1.TypedLocalObjectReference) {
	if !v.examine(p, ref, old) || ref == nil {
		return
	}
	if ref.APIGroup != "" {
		v.Subdomain(p.Child("apiGroup"), ref.APIGroup)
	}
	for _, part := range []struct{ name, value string }{{"kind", ref.Kind}, {"name", ref.Name}} {
		if part.value == "" {
			v.Required(p.Child(part.name), "")
		} else {
			v.Each(p.Child(part.name), part.value, content.IsPathSegmentName(part.value))
		}
	}
}
