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

// validateWorkload checks a workload. Of its templates only the counts of gangs may differ from those of old, which is nil
// for a new workload.
func validateWorkload(w, old *schedulingv1beta1.Workload) field.ErrorList {
	v, s := validator{update: old != nil}, &w.Spec
	was := s
	if old != nil {
		was = &old.Spec
	}
	p := check.At("spec")
	v.controllerRef(p.Child("controllerRef"), s.ControllerRef, was.ControllerRef)
	of := func(s *schedulingv1beta1.WorkloadSpec) [2]bool {
		return [2]bool{len(s.PodGroupTemplates) > 0, len(s.CompositePodGroupTemplates) > 0}
	}
	if !v.update || of(s) != of(was) {
		v.oneOf(p, of(s), [2]string{"podGroupTemplates", "compositePodGroupTemplates"})
	}
	v.children(p, s.PodGroupTemplates, was.PodGroupTemplates, s.CompositePodGroupTemplates, was.CompositePodGroupTemplates)
	v.tree(p, s)
	return v.List()
}

// children checks the templates in a workload, or in one of its templates.
func (v *validator) children(p *check.Path, groups, oldGroups []schedulingv1beta1.PodGroupTemplate, composites, oldComposites []schedulingv1beta1.CompositePodGroupTemplate) {
	templates(v, p.Child("podGroupTemplates"), groups, oldGroups, func(t *schedulingv1beta1.PodGroupTemplate) string { return t.Name }, v.template)
	templates(v, p.Child("compositePodGroupTemplates"), composites, oldComposites,
		func(t *schedulingv1beta1.CompositePodGroupTemplate) string { return t.Name }, v.composite)
}

// templates checks templates with one, by their names: none may come or go.
func templates[T any](v *validator, p *check.Path, list, old []T, name func(*T) string, one func(p *check.Path, t, old *T)) {
	if v.update && check.Same(list, old) {
		return
	}
	before := v.Len()
	if n := len(list); n > schedulingv1beta1.WorkloadMaxPodGroupTemplates {
		v.Add(field.TooMany(p.Field(), n, schedulingv1beta1.WorkloadMaxPodGroupTemplates).WithOrigin("maxItems"))
	}
	find := func(in []T, of *T) int {
		return slices.IndexFunc(in, func(t T) bool { return name(&t) == name(of) })
	}
	for i := range list {
		if v.update && find(old, &list[i]) < 0 {
			v.Forbidden(p.Index(i), "item may not be added")
		}
	}
	for i := range old {
		if v.update && find(list, &old[i]) < 0 {
			v.Forbidden(p, "item may not be removed")
		}
	}
	if v.Len() > before {
		return
	}
	unique(v, p, list, name)
	for i := range list {
		was := &list[i]
		if v.update {
			was = &old[find(old, was)]
		}
		one(p.Index(i), &list[i], was)
	}
}

func (v *validator) templateName(p *check.Path, name string) {
	switch at := p.Child("name"); {
	case v.update: // the name has not changed
	case name == "":
		v.Required(at, "")
	default:
		v.Label(at, name)
	}
}

func (v *validator) template(p *check.Path, t, old *schedulingv1beta1.PodGroupTemplate) {
	v.templateName(p, t.Name)
	v.policy(p.Child("schedulingPolicy"), podPolicy(&t.SchedulingPolicy), podPolicy(&old.SchedulingPolicy))
	v.constraints(p.Child("schedulingConstraints"), t.SchedulingConstraints, old.SchedulingConstraints)
	v.claims(p.Child("resourceClaims"), t.ResourceClaims, old.ResourceClaims)
	v.disruption(p.Child("disruptionMode"), t.DisruptionMode, old.DisruptionMode)
	v.priority(p, t.PriorityClassName, old.PriorityClassName, t.Priority, old.Priority)
	v.preemption(p, t.PreemptionPolicy, old.PreemptionPolicy)
}

func (v *validator) composite(p *check.Path, t, old *schedulingv1beta1.CompositePodGroupTemplate) {
	v.templateName(p, t.Name)
	v.compositePolicy(p.Child("schedulingPolicy"), t, old)
	v.compositeParts(p, t, old)
	v.children(p, t.PodGroupTemplates, old.PodGroupTemplates, t.CompositePodGroupTemplates, old.CompositePodGroupTemplates)
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
