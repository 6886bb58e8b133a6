package quota

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Measure computes the quota usage of one resource's objects.
type Measure struct {
	names []corev1.ResourceName
	// more, if set, reports whether a name beside names is measured.
	more func(corev1.ResourceName) bool
	// usage returns the usage of an object; nil means one of each name.
	usage func(runtime.Object) corev1.ResourceList
	// scope reports whether an object is in a scope; nil means that objects are in no scope.
	scope func(runtime.Object, corev1.ScopedResourceSelectorRequirement) (bool, error)
}

var (
	pods         = schema.GroupResource{Resource: "pods"}
	services     = schema.GroupResource{Resource: "services"}
	claims       = schema.GroupResource{Resource: "persistentvolumeclaims"}
	deviceClaims = schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"}
)

// aliases are the names of object counts from before count/RESOURCE.GROUP.
var aliases = map[string]corev1.ResourceName{
	"configmaps":             corev1.ResourceConfigMaps,
	"resourcequotas":         corev1.ResourceQuotas,
	"replicationcontrollers": corev1.ResourceReplicationControllers,
	"secrets":                corev1.ResourceSecrets,
}

// For returns the measure of a resource: its own, or one that counts objects. It caches the objects read from others,
// so it serves for one decision. ok is false for events, which quotas do not limit.
func For(gr schema.GroupResource, others Lookups) (_ Measure, ok bool) {
	switch gr {
	case pods:
		return podMeasure, true
	case services:
		return serviceMeasure, true
	case claims:
		return claimMeasure, true
	case deviceClaims:
		return others.measure(), true
	}
	if gr.Resource == "events" && (gr.Group == "" || gr.Group == "events.k8s.io") {
		return Measure{}, false
	}
	m := Measure{names: []corev1.ResourceName{Count(gr)}}
	if alias, ok := aliases[gr.Resource]; ok && gr.Group == "" {
		m.names = append(m.names, alias)
	}
	return m, true
}

// Count returns the quota name for the number of objects of a resource.
func Count(gr schema.GroupResource) corev1.ResourceName {
	return corev1.ResourceName("count/" + gr.String())
}

// Counted returns the resource counted under a name. ok is false for other names.
func Counted(name corev1.ResourceName) (_ schema.GroupResource, ok bool) {
	if s, ok := strings.CutPrefix(string(name), "count/"); ok {
		return schema.ParseGroupResource(s), true
	}
	for r, alias := range aliases {
		if alias == name {
			return schema.GroupResource{Resource: r}, true
		}
	}
	return schema.GroupResource{}, false
}

// Covers returns the names in a quota's list that the measure covers, sorted.
func (m Measure) Covers(hard corev1.ResourceList) []corev1.ResourceName {
	var covered []corev1.ResourceName
	for name := range hard {
		if slices.Contains(m.names, name) || m.more != nil && m.more(name) {
			covered = append(covered, name)
		}
	}
	slices.Sort(covered)
	return covered
}

// Usage returns the usage of an object under all names of the measure.
func (m Measure) Usage(obj runtime.Object) corev1.ResourceList {
	if m.usage != nil {
		return m.usage(obj)
	}
	l := corev1.ResourceList{}
	for _, name := range m.names {
		l[name] = one
	}
	return l
}

// Scopes returns the scopes of a quota.
func Scopes(q *corev1.ResourceQuota) []corev1.ScopedResourceSelectorRequirement {
	var all []corev1.ScopedResourceSelectorRequirement
	for _, s := range q.Spec.Scopes {
		all = append(all, corev1.ScopedResourceSelectorRequirement{ScopeName: s, Operator: corev1.ScopeSelectorOpExists})
	}
	if q.Spec.ScopeSelector != nil {
		all = append(all, q.Spec.ScopeSelector.MatchExpressions...)
	}
	return all
}

// Matching returns those of the scopes that the object is in.
func (m Measure) Matching(scopes []corev1.ScopedResourceSelectorRequirement, obj runtime.Object) (in []corev1.ScopedResourceSelectorRequirement, _ error) {
	for _, s := range scopes {
		if m.scope == nil {
			return nil, nil
		}
		ok, err := m.scope(obj, s)
		if err != nil {
			return nil, err
		}
		if ok {
			in = append(in, s)
		}
	}
	return in, nil
}

// InScope reports whether the object is in all scopes of the quota.
func (m Measure) InScope(q *corev1.ResourceQuota, obj runtime.Object) (bool, error) {
	for _, s := range Scopes(q) {
		if m.scope == nil {
			return false, nil
		}
		if in, err := m.scope(obj, s); err != nil || !in {
			return false, err
		}
	}
	return true, nil
}

var one = *resource.NewQuantity(1, resource.DecimalSI)

// Add returns the sum of two lists.
func Add(a, b corev1.ResourceList) corev1.ResourceList {
	sum := a.DeepCopy()
	if sum == nil {
		sum = corev1.ResourceList{}
	}
	AddTo(sum, b)
	return sum
}

// AddTo adds a list to a sum, in place.
func AddTo(sum, l corev1.ResourceList) {
	for name, q := range l {
		have := sum[name]
		if have.IsZero() {
			have = q.DeepCopy() // keeps the format
		} else {
			have.Add(q)
		}
		sum[name] = have
	}
}

// Less returns a minus b, for the names of a, and never less than zero.
func Less(a, b corev1.ResourceList) corev1.ResourceList {
	rest := corev1.ResourceList{}
	for name, q := range a {
		q = q.DeepCopy()
		q.Sub(b[name])
		if q.Sign() < 0 {
			q = resource.Quantity{Format: q.Format}
		}
		rest[name] = q
	}
	return rest
}

// Filter returns the entries of a list whose names are in names.
func Filter(l corev1.ResourceList, names []corev1.ResourceName) corev1.ResourceList {
	kept := maps.Clone(l)
	maps.DeleteFunc(kept, func(name corev1.ResourceName, _ resource.Quantity) bool { return !slices.Contains(names, name) })
	return kept
}

// Equal reports whether two lists have the same names and amounts.
func Equal(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}
