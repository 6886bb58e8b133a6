package endpoint

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/watchcache"
)

// ResourceOfKey returns a function that returns the resource of the object that a key holds, and
// whether it holds one. Objects of two resources that share their keys are of the one that stores
// them.
func ResourceOfKey(resources []*resource.Resource) func(key string) (schema.GroupResource, bool) {
	byPrefix := map[string]schema.GroupResource{}
	for _, r := range resources {
		if r.StoragePrefix != "" && !r.SharesStorage {
			byPrefix[r.StoragePrefix+"/"] = r.GroupResource()
		}
	}
	return func(key string) (schema.GroupResource, bool) {
		for i := strings.LastIndexByte(key, '/'); i >= 0; i = strings.LastIndexByte(key[:i], '/') {
			if gr, ok := byPrefix[key[:i+1]]; ok {
				return gr, true
			}
		}
		return customResource(key)
	}
}

// customResource returns the custom resource of the object that a key holds, and whether it holds
// one: /registry/GROUP/PLURAL/..., with a group that is a domain.
func customResource(key string) (schema.GroupResource, bool) {
	rest, ok := strings.CutPrefix(key, watchcache.Root)
	if !ok {
		return schema.GroupResource{}, false
	}
	group, rest, deeper := strings.Cut(rest, "/")
	plural, _, named := strings.Cut(rest, "/")
	return schema.GroupResource{Group: group, Resource: plural}, deeper && named && strings.Contains(group, ".")
}
