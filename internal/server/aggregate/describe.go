package aggregate

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"

	"fairlead.dev/internal/resource/apiregistration"
	"fairlead.dev/internal/server/discovery"
	"fairlead.dev/internal/server/openapi"
)

// setResources stores the result of a remote's discovery, if it is fresh.
func (s *Services) setResources(r *remote, resources []apidiscoveryv2.APIResourceDiscovery, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !fresh {
		resources = r.resources
	}
	if s.mu.remotes[r.name] == r && (fresh != r.fresh || !reflect.DeepEqual(resources, r.resources)) {
		r.resources, r.fresh = resources, fresh
		s.list()
	}
}

// setDocuments stores a remote's OpenAPI documents.
func (s *Services) setDocuments(r *remote, documents openapi.Remote) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.remotes[r.name] == r && !reflect.DeepEqual(documents, r.documents) {
		r.documents = documents
		s.publishOpenAPI()
	}
}

// list passes the remotes to discovery. s.mu is held.
func (s *Services) list() {
	var list []discovery.Remote
	for _, r := range s.mu.remotes {
		v := apidiscoveryv2.APIVersionDiscovery{Version: r.spec.Version, Resources: r.resources, Freshness: apidiscoveryv2.DiscoveryFreshnessStale}
		if r.fresh {
			v.Freshness = apidiscoveryv2.DiscoveryFreshnessCurrent
		}
		list = append(list, discovery.Remote{
			Group: r.spec.Group, Version: v,
			Priority: apiregistration.Priority{Group: r.spec.GroupPriorityMinimum, Version: r.spec.VersionPriority},
		})
	}
	slices.SortFunc(list, func(a, b discovery.Remote) int {
		return strings.Compare(a.Version.Version+"."+a.Group, b.Version.Version+"."+b.Group)
	})
	s.o.Discovery.SetRemotes(list)
}

// publishOpenAPI passes the remotes to OpenAPI, groups of a higher priority first. s.mu is held.
func (s *Services) publishOpenAPI() {
	var all []*remote
	priority := map[string]int32{}
	for _, r := range s.mu.remotes {
		priority[r.spec.Group] = max(priority[r.spec.Group], r.spec.GroupPriorityMinimum)
		if r.documents.V3 != nil || r.documents.V2 != nil {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *remote) int {
		return cmp.Or(cmp.Compare(priority[b.spec.Group], priority[a.spec.Group]), strings.Compare(a.name, b.name))
	})
	var list []openapi.Remote
	for _, r := range all {
		list = append(list, r.documents)
	}
	s.o.OpenAPI.SetRemotes(list)
}
