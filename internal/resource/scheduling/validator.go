package scheduling

import (
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

// validator checks the parts that pod groups and the templates of workloads share. The rules are the tags of
// k8s.io/api: in an update a value that has not changed is not checked again.
type validator struct {
	check.Errors
	update bool
}

// examine reports whether a value has to be checked. One that has changed is an error: it is immutable.
func (v *validator) examine(p *check.Path, now, old any) bool {
	if !v.update {
		return true
	}
	if !check.Same(now, old) {
		v.Invalid(p, nil, "field is immutable")
	}
	return false
}

// policy is a policy of pods or of groups. The field of a gang has the least count of them.
type policy struct {
	basic, gang bool
	count       int32
	field       string
}

func podPolicy(s *schedulingv1beta1.PodGroupSchedulingPolicy) policy {
	of := policy{basic: s.Basic != nil, gang: s.Gang != nil, field: "minCount"}
	if of.gang {
		of.count = s.Gang.MinCount
	}
	return of
}

// policy checks that there is one policy, and that it is still the same one. The count of a gang may change.
func (v *validator) policy(p *check.Path, s, old policy) {
	now, was := [2]bool{s.basic, s.gang}, [2]bool{old.basic, old.gang}
	if !v.update || now != was {
		v.oneOf(p, now, [2]string{"basic", "gang"})
	}
	if v.update && s.basic != old.basic {
		v.Invalid(p.Child("basic"), nil, "field is immutable")
	}
	gang := p.Child("gang")
	switch {
	case v.update && s.gang && !old.gang:
		v.Invalid(gang, nil, "field cannot be set once created")
	case v.update && !s.gang && old.gang:
		v.Invalid(gang, nil, "field cannot be cleared once set")
	case s.gang && (!v.update || s.count != old.count):
		v.count(gang.Child(s.field), s.count)
	}
}

func (v *validator) count(p *check.Path, n int32) {
	if n == 0 {
		v.Required(p, "")
	} else if n < 1 {
		v.Invalid(p, n, "must be greater than or equal to 1")
	}
}

// constraints checks that there is one label at most.
func (v *validator) constraints(p *check.Path, c, old *schedulingv1beta1.PodGroupSchedulingConstraints) {
	if !v.examine(p, c, old) || c == nil {
		return
	}
	list := p.Child("topology")
	if n := len(c.Topology); n > 1 {
		v.Add(field.TooMany(list.Field(), n, 1).WithOrigin("maxItems"))
		return
	}
	for i := range c.Topology {
		at := list.Index(i).Child("key")
		if key := c.Topology[i].Key; key == "" {
			v.Required(at, "")
		} else {
			v.Each(at, key, content.IsLabelKey(key))
		}
	}
}

func (v *validator) disruption(p *check.Path, m, old *schedulingv1beta1.DisruptionMode) {
	if v.examine(p, m, old) && m != nil {
		v.oneOf(p, [2]bool{m.Single != nil, m.All != nil}, [2]string{"single", "all"})
	}
}

// oneOf checks that one of two fields is set.
func (v *validator) oneOf(p *check.Path, set [2]bool, names [2]string) {
	both := "`" + names[0] + "`, `" + names[1] + "`"
	switch {
	case set[0] && set[1]:
		v.Invalid(p, "{"+names[0]+", "+names[1]+"}", "must specify exactly one of: "+both)
	case !set[0] && !set[1]:
		v.Invalid(p, "", "must specify one of: "+both)
	}
}

func (v *validator) priority(p *check.Path, class, oldClass string, value, oldValue *int32) {
	if v.examine(p.Child("priorityClassName"), class, oldClass) && class != "" {
		v.Subdomain(p.Child("priorityClassName"), class)
	}
	if v.examine(p.Child("priority"), value, oldValue) && value != nil && *value > maxUser {
		v.Invalid(p.Child("priority"), *value, "must be less than or equal to 1000000000")
	}
}

// preemption checks the policy in a spec or a template.
func (v *validator) preemption(p *check.Path, policy, old *schedulingv1beta1.PreemptionPolicy) {
	at := p.Child("preemptionPolicy")
	if v.examine(at, policy, old) && policy != nil {
		check.Known(&v.Errors, at, *policy, schedulingv1beta1.PreemptNever, schedulingv1beta1.PreemptLowerPriority)
	}
}
