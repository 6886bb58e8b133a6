package discovery

import (
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/resource"
)

// aggregated returns the aggregated document: the core group for /api, all others for /apis.
func (c catalog) aggregated(core bool) runtime.Object {
	list := &apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{APIVersion: "apidiscovery.k8s.io/v2", Kind: "APIGroupDiscoveryList"},
		Items:    []apidiscoveryv2.APIGroupDiscovery{},
	}
	for _, g := range c {
		if (g.name == "") != core {
			continue
		}
		item := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.name}}
		for _, gv := range g.versions {
			v := apidiscoveryv2.APIVersionDiscovery{Version: gv.name, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
			if gv.remote != nil {
				v = gv.remote.Version
			}
			for _, r := range gv.resources {
				v.Resources = append(v.Resources, describe(r))
			}
			item.Versions = append(item.Versions, v)
		}
		list.Items = append(list.Items, item)
	}
	return list
}

func describe(r *resource.Resource) apidiscoveryv2.APIResourceDiscovery {
	d := apidiscoveryv2.APIResourceDiscovery{
		Resource:         r.Plural,
		ResponseKind:     &metav1.GroupVersionKind{Kind: r.Kind},
		Scope:            apidiscoveryv2.ScopeCluster,
		SingularResource: r.Singular,
		Verbs:            verbs(r),
		ShortNames:       r.ShortNames,
		Categories:       r.Categories,
	}
	if r.Namespaced {
		d.Scope = apidiscoveryv2.ScopeNamespace
	}
	for _, s := range subresources(r) {
		d.Subresources = append(d.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource:  s.Name,
			ResponseKind: &metav1.GroupVersionKind{Group: s.Group, Version: s.Version, Kind: s.Kind},
			Verbs:        sorted(s.Verbs),
		})
	}
	return d
}
