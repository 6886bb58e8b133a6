package server

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/adopt"
	"fairlead.dev/watchcache"
)

// table finds the endpoint a path leads to. It is never changed.
type table struct {
	endpoints map[schema.GroupVersionResource]*endpoint
	// stored has the endpoint of each resource's first version.
	stored map[schema.GroupResource]*endpoint
	// groups are the versions of groups that have built-in kinds, builtin the groups.
	// Elsewhere a path to no resource is a path to nowhere.
	groups  map[schema.GroupVersion]bool
	builtin map[string]bool
	caches  map[string]*watchcache.Cache
	rows    []*resource.Resource
}

func newTable(hub *watchcache.Hub, resources []*resource.Resource, before *table) *table {
	t := &table{
		endpoints: map[schema.GroupVersionResource]*endpoint{},
		stored:    map[schema.GroupResource]*endpoint{},
		groups:    map[schema.GroupVersion]bool{},
		builtin:   map[string]bool{},
		caches:    map[string]*watchcache.Cache{},
		rows:      resources,
	}
	sharing := map[string][]*resource.Resource{} // by prefix
	for _, r := range resources {
		sharing[r.StoragePrefix] = append(sharing[r.StoragePrefix], r)
	}
	for _, r := range resources {
		var cache *watchcache.Cache
		if r.StoragePrefix != "" {
			cache = t.cache(hub, r, sharing[r.StoragePrefix], before)
		}
		for i := range r.Versions {
			gvr := r.GVR(r.Versions[i].Name)
			ep := before.endpoint(gvr)
			if ep == nil || ep.Resource != r || ep.cache != cache {
				was := ep
				if ep = newEndpoint(r, &r.Versions[i], cache); was != nil && was.sameAs(ep) {
					ep.retired = was.retired
				}
			}
			t.endpoints[gvr] = ep
			if !ep.redefinable {
				t.groups[ep.gvk.GroupVersion()], t.builtin[r.Group] = true, true
			}
			if i == 0 && (!ep.redefinable || ep.raw || t.stored[ep.gr] == nil) {
				t.stored[ep.gr] = ep
			}
		}
	}
	return t
}

// end ends the watches of a table's resources that the next one doesn't have.
func (t *table) end(hub *watchcache.Hub, next *table) {
	if t == nil {
		return
	}
	for gvr, ep := range t.endpoints {
		if ep.redefinable && next.caches[ep.StoragePrefix+"/"] == ep.cache && !ep.sameAs(next.endpoints[gvr]) {
			ep.retired.Store(true)
		}
	}
	for prefix, cache := range t.caches {
		if next.caches[prefix] != cache {
			hub.Remove(cache)
		}
	}
}

// endpoint is that of a resource's version, nil if there is none or no table.
func (t *table) endpoint(gvr schema.GroupVersionResource) *endpoint {
	if t == nil {
		return nil
	}
	return t.endpoints[gvr]
}

// cache returns the one cache for all resources with the same prefix; it knows
// the selectable fields of each of them.
func (t *table) cache(hub *watchcache.Hub, r *resource.Resource, sharing []*resource.Resource, before *table) *watchcache.Cache {
	prefix := r.StoragePrefix + "/"
	if c := t.caches[prefix]; c != nil {
		return c
	}
	o := watchcache.Options{Prefix: prefix, Namespaced: r.Namespaced, Group: r.Group, Resource: r.Plural}
	for _, other := range sharing {
		if other.Custom == nil && !other.SharesStorage {
			o.Read, o.TypePrefix = adopt.For(other).Read, typePrefix(other.StorageGVK())
		}
	}
	known := map[string]bool{}
	for _, other := range sharing {
		for _, f := range other.Fields {
			if known[f.Label] {
				continue
			}
			known[f.Label] = true
			o.Fields = append(o.Fields, watchcache.Field{Label: f.Label, Paths: f.Paths, Zero: f.Zero})
			if f.Indexed {
				o.IndexFields = append(o.IndexFields, f.Label)
			}
		}
	}
	if before != nil {
		if c := before.caches[prefix]; c != nil && sameFields(c.Options().Fields, o.Fields) {
			t.caches[prefix] = c
			return c
		}
	}
	t.caches[prefix] = hub.Add(o)
	return t.caches[prefix]
}

// sameFields says whether a cache can go on with these fields.
func sameFields(a, b []watchcache.Field) bool {
	return slices.EqualFunc(a, b, func(a, b watchcache.Field) bool {
		return a.Label == b.Label && a.Zero == b.Zero && slices.EqualFunc(a.Paths, b.Paths, slices.Equal)
	})
}
