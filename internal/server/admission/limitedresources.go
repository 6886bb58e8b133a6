package admission

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/quota"
	"fairlead.dev/internal/server/admission/config"
)

type scopes = []corev1.ScopedResourceSelectorRequirement

// covered rejects a request that consumes a limited resource which no quota of the namespace covers.
func (p ResourceQuota) covered(r *Request, m quota.Measure, list []*corev1.ResourceQuota) error {
	if len(p.limited) == 0 {
		return nil
	}
	var limited, seen scopes
	for _, l := range p.limited {
		in, err := m.Matching(l.MatchScopes, r.Object)
		if err != nil {
			return nil // as upstream: without effect if a selector cannot be matched
		}
		limited = append(limited, in...)
	}
	usage := m.Usage(r.Object)
	uncovered := p.limitedNames(r.GroupResource(), usage)
	applies := false
	grows := len(usage) > 0
	for _, q := range list {
		in, err := m.Matching(quota.Scopes(q), r.Object)
		if err != nil {
			return unclassified(fmt.Errorf("error matching scopes of quota %s, err: %w", q.Name, err))
		}
		seen = append(seen, in...)
		names := m.Covers(q.Status.Hard)
		ok, err := within(m, q, names, r.Object)
		if err != nil {
			return internal(err)
		}
		if ok {
			applies = true
			uncovered = slices.DeleteFunc(uncovered, func(name corev1.ResourceName) bool { return slices.Contains(names, name) })
		}
	}
	if r.Verb == Update {
		grows = anyPositive(quota.Less(usage, m.Usage(r.Old))) || applies && p.newlyApplies(r, m, list)
	}
	if !grows {
		return nil
	}
	if len(uncovered) > 0 {
		return forbid(r, fmt.Errorf("insufficient quota to consume: %v", joined(uncovered)))
	}
	limited = slices.DeleteFunc(limited, func(l corev1.ScopedResourceSelectorRequirement) bool {
		return slices.ContainsFunc(seen, func(s corev1.ScopedResourceSelectorRequirement) bool { return s.ScopeName == l.ScopeName })
	})
	if len(limited) > 0 {
		return unclassified(fmt.Errorf("insufficient quota to match these scopes: %v", limited))
	}
	return nil
}

// limitedNames returns the names of the usage that are limited, sorted.
func (p ResourceQuota) limitedNames(gr schema.GroupResource, usage corev1.ResourceList) (names []corev1.ResourceName) {
	for name, amount := range byName(usage) {
		limits := func(l config.LimitedResource) bool {
			return l.APIGroup == gr.Group && l.Resource == gr.Resource &&
				slices.ContainsFunc(l.MatchContains, func(part string) bool { return strings.Contains(string(name), part) })
		}
		if amount.Sign() > 0 && slices.ContainsFunc(p.limited, limits) {
			names = append(names, name)
		}
	}
	return names
}

// newlyApplies reports whether a quota applies to the object and did not before.
func (ResourceQuota) newlyApplies(r *Request, m quota.Measure, list []*corev1.ResourceQuota) bool {
	return slices.ContainsFunc(list, func(q *corev1.ResourceQuota) bool {
		names := m.Covers(q.Status.Hard)
		now, _ := within(m, q, names, r.Object)
		before, _ := within(m, q, names, r.Old)
		return now && !before
	})
}

func anyPositive(l corev1.ResourceList) bool {
	for _, amount := range l {
		if amount.Sign() > 0 {
			return true
		}
	}
	return false
}
