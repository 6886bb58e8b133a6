package scheduling

import (
	"fmt"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"fairlead.dev/internal/resource/check"
)

// maxDepth is how many levels of groups a workload may have.
const maxDepth = schedulingv1beta1.WorkloadMaxTreeDepth

// tree checks all templates of a workload together, in updates as well: their names differ, there are not too many
// levels, all have one priority, and each template of a group of groups has one in it.
func (v *validator) tree(p *check.Path, s *schedulingv1beta1.WorkloadSpec) {
	names := map[string]bool{}
	for i := range s.PodGroupTemplates {
		names[s.PodGroupTemplates[i].Name] = true
	}
	v.otherNames(p, s.CompositePodGroupTemplates, names)
	list := p.Child("compositePodGroupTemplates")
	for i := range s.CompositePodGroupTemplates {
		if t := &s.CompositePodGroupTemplates[i]; depth(t) >= maxDepth {
			v.Invalid(list.Index(i), t.CompositePodGroupTemplates, fmt.Sprintf("maximum template hierarchy depth is %d", maxDepth))
		}
	}
	v.onePriority(p, s)
	for i := range s.CompositePodGroupTemplates {
		v.notEmpty(list.Index(i), &s.CompositePodGroupTemplates[i])
	}
}

// depth returns how many levels of groups of groups a template makes.
func depth(t *schedulingv1beta1.CompositePodGroupTemplate) int {
	below := 0
	for i := range t.CompositePodGroupTemplates {
		below = max(below, depth(&t.CompositePodGroupTemplates[i]))
	}
	return below + 1
}

// otherNames reports names that templates in other lists have before. Those in one list are compared by templates.
func (v *validator) otherNames(p *check.Path, list []schedulingv1beta1.CompositePodGroupTemplate, names map[string]bool) {
	p = p.Child("compositePodGroupTemplates")
	differ(v, p, list, names, func(t *schedulingv1beta1.CompositePodGroupTemplate) string { return t.Name })
	for i := range list {
		at := p.Index(i)
		differ(v, at.Child("podGroupTemplates"), list[i].PodGroupTemplates, names, func(t *schedulingv1beta1.PodGroupTemplate) string { return t.Name })
		v.otherNames(at, list[i].CompositePodGroupTemplates, names)
	}
}

// differ reports the names in a list that are in names already, and adds all of them.
func differ[T any](v *validator, p *check.Path, list []T, names map[string]bool, name func(*T) string) {
	for i := range list {
		if n := name(&list[i]); names[n] {
			v.Duplicate(p.Index(i).Child("name"), n)
		}
	}
	for i := range list {
		names[name(&list[i])] = true
	}
}

// onePriority checks that all templates have the same priority.
func (v *validator) onePriority(p *check.Path, s *schedulingv1beta1.WorkloadSpec) {
	var first *schedulingv1beta1.PodGroupTemplate
	differs := func(class string, value *int32) bool {
		of := &schedulingv1beta1.PodGroupTemplate{PriorityClassName: class, Priority: value}
		if first == nil {
			first = of
		}
		return !check.Same(first, of)
	}
	anyGroup := func(list []schedulingv1beta1.PodGroupTemplate) bool {
		for i := range list {
			if differs(list[i].PriorityClassName, list[i].Priority) {
				return true
			}
		}
		return false
	}
	var anyComposite func(list []schedulingv1beta1.CompositePodGroupTemplate) bool
	anyComposite = func(list []schedulingv1beta1.CompositePodGroupTemplate) bool {
		for i := range list {
			t := &list[i]
			if differs(t.PriorityClassName, t.Priority) || anyComposite(t.CompositePodGroupTemplates) || anyGroup(t.PodGroupTemplates) {
				return true
			}
		}
		return false
	}
	switch {
	case anyGroup(s.PodGroupTemplates):
		v.Invalid(p, nil, "detected multiple priority configurations")
	case anyComposite(s.CompositePodGroupTemplates):
		v.Invalid(p, nil, "all priority and priorityClassName values must be identical, detected multiple values")
	}
}

// notEmpty reports templates of groups of groups that have no template in them.
func (v *validator) notEmpty(p *check.Path, t *schedulingv1beta1.CompositePodGroupTemplate) {
	if len(t.PodGroupTemplates)+len(t.CompositePodGroupTemplates) == 0 {
		v.Invalid(p, t.Name, "must have at least one child PodGroupTemplate or CompositePodGroupTemplate")
	}
	for i := range t.CompositePodGroupTemplates {
		v.notEmpty(p.Child("compositePodGroupTemplates").Index(i), &t.CompositePodGroupTemplates[i])
	}
}
