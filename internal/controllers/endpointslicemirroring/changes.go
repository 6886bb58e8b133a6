//lint:file-ignore SA1019 Endpoints are deprecated, and served

package endpointslicemirroring

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/controllers/podcontrol"
)

// changes are the writes that turn the existing mirrors into the groups.
type changes struct{ create, update, remove []*discoveryv1.EndpointSlice }

// plan keeps the mirror of a group that is still wanted, reuses those that are not, and only then creates new ones.
func plan(ep *corev1.Endpoints, have []*discoveryv1.EndpointSlice, groups []group) changes {
	var c changes
	have = slices.Clone(have)
	slices.SortFunc(have, func(a, b *discoveryv1.EndpointSlice) int { return strings.Compare(a.Name, b.Name) })
	take := func(fits func(*discoveryv1.EndpointSlice) bool) *discoveryv1.EndpointSlice {
		i := slices.IndexFunc(have, fits)
		if i < 0 {
			return nil
		}
		s := have[i]
		have = slices.Delete(have, i, i+1)
		return s
	}
	var homeless []group
	for _, g := range groups {
		s := take(func(s *discoveryv1.EndpointSlice) bool {
			return s.AddressType == g.family && equality.Semantic.DeepEqual(s.Ports, g.ports)
		})
		if s == nil {
			homeless = append(homeless, g)
		} else if now := become(s, ep, g); !equality.Semantic.DeepEqual(s, now) {
			c.update = append(c.update, now)
		}
	}
	for _, g := range homeless {
		if s := take(func(s *discoveryv1.EndpointSlice) bool { return s.AddressType == g.family }); s != nil {
			c.update = append(c.update, become(s, ep, g))
			continue
		}
		c.create = append(c.create, become(&discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{GenerateName: podcontrol.NamePrefix(ep.Name), Namespace: ep.Namespace},
			AddressType: g.family,
		}, ep, g))
	}
	c.remove = have
	return c
}

// become returns a copy of the slice that mirrors the group.
func become(s *discoveryv1.EndpointSlice, ep *corev1.Endpoints, g group) *discoveryv1.EndpointSlice {
	s = s.DeepCopy()
	s.Labels = maps.Clone(ep.Labels)
	if s.Labels == nil {
		s.Labels = map[string]string{}
	}
	s.Labels[discoveryv1.LabelServiceName], s.Labels[discoveryv1.LabelManagedBy] = ep.Name, manager
	s.Annotations = maps.Clone(ep.Annotations)
	delete(s.Annotations, corev1.EndpointsLastChangeTriggerTime)
	delete(s.Annotations, corev1.LastAppliedConfigAnnotation)
	s.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(ep, corev1.SchemeGroupVersion.WithKind("Endpoints"))}
	s.Ports, s.Endpoints = g.ports, g.endpoints
	return s
}
