package aggregate

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxDiscovery bounds a discovery document, in bytes.
const maxDiscovery = 16 << 20

// discover gets the resources of an available remote's version: from aggregated discovery if the remote supports
// it, else from the version's resource list.
func (s *Services) discover(ctx context.Context, r *remote, available bool) ([]apidiscoveryv2.APIResourceDiscovery, error) {
	if !available {
		return nil, errUnavailable
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	root := "/apis"
	if r.spec.Group == "" {
		root = "/api"
	}
	var all apidiscoveryv2.APIGroupDiscoveryList
	aggregated, err := s.document(ctx, r, root, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json", &all)
	if err == nil && aggregated {
		for _, g := range all.Items {
			for _, v := range g.Versions {
				if g.Name == r.spec.Group && v.Version == r.spec.Version {
					return v.Resources, nil
				}
			}
		}
		return nil, nil
	}
	var one metav1.APIResourceList
	if _, err := s.document(ctx, r, versionPath(r), "application/json", &one); err != nil {
		return nil, err
	}
	return regrouped(r, one.APIResources), nil
}

// document reads one document, and reports whether it is aggregated discovery.
func (s *Services) document(ctx context.Context, r *remote, path, accept string, into any) (aggregated bool, err error) {
	resp, err := s.ask(ctx, r, path, accept)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxDiscovery))
	if err != nil {
		return false, err
	}
	_, params, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	aggregated = params["as"] == "APIGroupDiscoveryList" && params["v"] == "v2"
	if _, wanted := into.(*apidiscoveryv2.APIGroupDiscoveryList); wanted && !aggregated {
		return false, nil
	}
	return aggregated, json.Unmarshal(text, into)
}

// regrouped puts the subresources, which a resource list holds as entries of their own, under their resources.
func regrouped(r *remote, list []metav1.APIResource) (resources []apidiscoveryv2.APIResourceDiscovery) {
	kind := func(a *metav1.APIResource) *metav1.GroupVersionKind {
		k := &metav1.GroupVersionKind{Group: a.Group, Version: a.Version, Kind: a.Kind}
		if k.Group == "" && k.Version == "" {
			k.Group, k.Version = r.spec.Group, r.spec.Version
		}
		return k
	}
	at := map[string]int{}
	for i := range list {
		a := &list[i]
		if strings.Contains(a.Name, "/") {
			continue
		}
		at[a.Name] = len(resources)
		scope := apidiscoveryv2.ScopeCluster
		if a.Namespaced {
			scope = apidiscoveryv2.ScopeNamespace
		}
		resources = append(resources, apidiscoveryv2.APIResourceDiscovery{
			Resource: a.Name, SingularResource: a.SingularName, Scope: scope, ResponseKind: kind(a),
			Verbs: a.Verbs, ShortNames: a.ShortNames, Categories: a.Categories,
		})
	}
	for i := range list {
		a := &list[i]
		parent, name, _ := strings.Cut(a.Name, "/")
		if j, ok := at[parent]; ok && name != "" {
			resources[j].Subresources = append(resources[j].Subresources, apidiscoveryv2.APISubresourceDiscovery{
				Subresource: name, ResponseKind: kind(a), Verbs: a.Verbs,
			})
		}
	}
	return resources
}
