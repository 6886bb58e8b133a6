package endpointslice

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// perSlice is the maximum number of endpoints in a slice.
const perSlice = 100

// changes are the writes that turn the existing slices into the desired ones.
type changes struct{ create, update, remove []*discoveryv1.EndpointSlice }

func (c changes) empty() bool { return len(c.create)+len(c.update)+len(c.remove) == 0 }

// plan computes the changes. Slices in the result are copies.
func plan(svc *corev1.Service, existing []*discoveryv1.EndpointSlice, wanted map[discoveryv1.AddressType]map[groupKey]*group) changes {
	var c changes
	slices.SortFunc(existing, func(a, b *discoveryv1.EndpointSlice) int { return strings.Compare(a.Name, b.Name) })
	byFamily := make(map[discoveryv1.AddressType][]*discoveryv1.EndpointSlice)
	for _, s := range existing {
		if _, ok := wanted[s.AddressType]; !ok || !ownedBy(s, svc) {
			c.remove = append(c.remove, s)
			continue
		}
		byFamily[s.AddressType] = append(byFamily[s.AddressType], s)
	}
	for _, family := range slices.Sorted(maps.Keys(wanted)) {
		c.planFamily(svc, family, byFamily[family], wanted[family])
	}
	c.reuse(svc)
	return c
}

// reuse updates slices that would be deleted in place of creating new ones.
func (c *changes) reuse(svc *corev1.Service) {
	c.remove = slices.DeleteFunc(c.remove, func(old *discoveryv1.EndpointSlice) bool {
		i := slices.IndexFunc(c.create, func(s *discoveryv1.EndpointSlice) bool { return s.AddressType == old.AddressType })
		if i < 0 || !ownedBy(old, svc) {
			return false
		}
		s := c.create[i]
		s.ObjectMeta.Name, s.GenerateName = old.Name, old.GenerateName
		s.UID, s.ResourceVersion = old.UID, old.ResourceVersion
		c.create = slices.Delete(c.create, i, i+1)
		c.update = append(c.update, s)
		return true
	})
}

func (c *changes) planFamily(svc *corev1.Service, family discoveryv1.AddressType, existing []*discoveryv1.EndpointSlice, wanted map[groupKey]*group) {
	if len(wanted) == 0 {
		c.planPlaceholder(svc, family, existing)
		return
	}
	byGroup := make(map[groupKey][]*discoveryv1.EndpointSlice)
	for _, s := range existing {
		k := groupKey{family, spell(s.Ports)}
		if wanted[k] == nil {
			c.remove = append(c.remove, s)
			continue
		}
		byGroup[k] = append(byGroup[k], s)
	}
	for _, k := range slices.SortedFunc(maps.Keys(wanted), func(a, b groupKey) int { return strings.Compare(a.ports, b.ports) }) {
		c.planGroup(svc, k, byGroup[k], wanted[k])
	}
}

// planPlaceholder leaves one slice without endpoints.
func (c *changes) planPlaceholder(svc *corev1.Service, family discoveryv1.AddressType, existing []*discoveryv1.EndpointSlice) {
	kept := false
	for _, s := range existing {
		if !kept && len(s.Endpoints) == 0 && len(s.Ports) == 0 {
			kept = true
			if relabel, ok := labelled(s, svc); ok {
				c.update = append(c.update, relabel)
			}
			continue
		}
		c.remove = append(c.remove, s)
	}
	if !kept {
		c.create = append(c.create, newSlice(svc, family, nil))
	}
}

// planGroup plans the slices of one set of ports.
func (c *changes) planGroup(svc *corev1.Service, k groupKey, existing []*discoveryv1.EndpointSlice, g *group) {
	missing := make(map[types.UID]discoveryv1.Endpoint, len(g.endpoints))
	for _, ep := range g.endpoints {
		missing[ep.TargetRef.UID] = ep
	}
	var touched, untouched []*discoveryv1.EndpointSlice
	for _, s := range existing {
		kept, same := keep(s.Endpoints, missing)
		relabel, relabelled := labelled(s, svc)
		switch {
		case len(kept) == 0:
			c.remove = append(c.remove, s)
		case !same || relabelled:
			relabel.Endpoints = kept
			touched = append(touched, relabel)
		default:
			untouched = append(untouched, s)
		}
	}
	rest := make([]discoveryv1.Endpoint, 0, len(missing))
	for _, ep := range g.endpoints { // in order, for reproducible results
		if _, ok := missing[ep.TargetRef.UID]; ok {
			rest = append(rest, ep)
		}
	}
	// The fullest first, which leaves the fewest partly filled ones.
	slices.SortStableFunc(touched, func(a, b *discoveryv1.EndpointSlice) int { return len(b.Endpoints) - len(a.Endpoints) })
	for _, s := range touched {
		n := max(0, min(perSlice-len(s.Endpoints), len(rest)))
		s.Endpoints = append(s.Endpoints, rest[:n]...)
		rest = rest[n:]
	}
	c.update = append(c.update, touched...)
	for len(rest) > 0 {
		if s := fullest(untouched, len(rest)); s != nil {
			s = s.DeepCopy()
			s.Endpoints = append(s.Endpoints, rest...)
			c.update = append(c.update, s)
			return
		}
		n := min(perSlice, len(rest))
		s := newSlice(svc, k.family, g.ports)
		s.Endpoints = append(s.Endpoints, rest[:n]...)
		c.create = append(c.create, s)
		rest = rest[n:]
	}
}

// keep returns a slice's desired endpoints in their desired state, removing them from missing; same reports whether
// the slice is unchanged.
func keep(has []discoveryv1.Endpoint, missing map[types.UID]discoveryv1.Endpoint) (kept []discoveryv1.Endpoint, same bool) {
	same = true
	kept = make([]discoveryv1.Endpoint, 0, len(has))
	for i := range has {
		var want discoveryv1.Endpoint
		ok := false
		if ref := has[i].TargetRef; ref != nil {
			want, ok = missing[ref.UID]
		}
		if !ok {
			same = false
			continue
		}
		delete(missing, has[i].TargetRef.UID)
		if same && !equality.Semantic.DeepEqual(has[i], want) {
			same = false
		}
		kept = append(kept, want)
	}
	return kept, same
}

// fullest returns the fullest slice with room for n more endpoints.
func fullest(all []*discoveryv1.EndpointSlice, n int) (best *discoveryv1.EndpointSlice) {
	for _, s := range all {
		if len(s.Endpoints)+n <= perSlice && (best == nil || len(s.Endpoints) > len(best.Endpoints)) {
			best = s
		}
	}
	return best
}
