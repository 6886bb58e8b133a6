package endpoint

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/adopt"
	"fairlead.dev/watchcache"
)

// Table finds the endpoint that a path leads to. It is never changed.
type Table struct {
	Endpoints map[schema.GroupVersionResource]*Endpoint
	// Stored has the endpoint of each resource's storage version or, failing that, of its
	// first one.
	Stored map[schema.GroupResource]*Endpoint
	// Groups has the versions of the groups that have built-in resources, Builtin these
	// groups. A path to an unknown resource of another group is an unknown path.
	Groups  map[schema.GroupVersion]bool
	Builtin map[string]bool
	Caches  map[string]*watchcache.Cache
	Rows    []*resource.Resource
	// shards are those of the caches.
	shards map[string]*Shard
}

// NewTable makes the table of resources. Endpoints and caches of the table before are kept
// if they have not changed.
func NewTable(shards *Shards, resources []*resource.Resource, before *Table) *Table {
	t := &Table{
		Endpoints: map[schema.GroupVersionResource]*Endpoint{},
		Stored:    map[schema.GroupResource]*Endpoint{},
		Groups:    map[schema.GroupVersion]bool{},
		Builtin:   map[string]bool{},
		Caches:    map[string]*watchcache.Cache{},
		Rows:      resources,
		shards:    map[string]*Shard{},
	}
	sharing := map[string][]*resource.Resource{} // by prefix
	for _, r := range resources {
		sharing[r.StoragePrefix] = append(sharing[r.StoragePrefix], r)
	}
	for _, r := range resources {
		var cache *watchcache.Cache
		var shard *Shard
		if r.StoragePrefix != "" {
			shard = shards.Of(storing(sharing[r.StoragePrefix]))
			cache = t.cache(shard, r, sharing[r.StoragePrefix], before)
		}
		for i := range r.Versions {
			gvr := r.GVR(r.Versions[i].Name)
			ep := before.Endpoint(gvr)
			if ep == nil || ep.Resource != r || ep.Cache != cache {
				was := ep
				if ep = newEndpoint(r, &r.Versions[i], cache, shard); was != nil && was.sameAs(ep) {
					ep.Retired = was.Retired
				}
			}
			t.Endpoints[gvr] = ep
			if !ep.Redefinable {
				t.Groups[ep.ServedGVK.GroupVersion()], t.Builtin[r.Group] = true, true
			}
			if i == 0 && (!ep.Redefinable || ep.Raw || t.Stored[ep.ServedGR] == nil) {
				t.Stored[ep.ServedGR] = ep
			}
		}
	}
	return t
}

// End ends the watches of resources that the next table does not have, and marks endpoints
// that it redefines as retired.
func (t *Table) End(next *Table) {
	if t == nil {
		return
	}
	for gvr, ep := range t.Endpoints {
		if ep.Redefinable && next.Caches[ep.StoragePrefix+"/"] == ep.Cache && !ep.sameAs(next.Endpoints[gvr]) {
			ep.Retired.Store(true)
		}
	}
	for prefix, cache := range t.Caches {
		if next.Caches[prefix] != cache {
			t.shards[prefix].Hub.Remove(cache)
		}
	}
}

// Endpoint returns the endpoint of a resource's version, nil if it or the table is missing.
func (t *Table) Endpoint(gvr schema.GroupVersionResource) *Endpoint {
	if t == nil {
		return nil
	}
	return t.Endpoints[gvr]
}

// storing returns the row that stores the objects of rows that share a storage prefix.
func storing(sharing []*resource.Resource) *resource.Resource {
	for _, r := range sharing {
		if !r.SharesStorage {
			return r
		}
	}
	return sharing[0]
}

// cache returns the one cache for all resources with the same storage prefix. It knows the
// selectable fields of each of them.
func (t *Table) cache(shard *Shard, r *resource.Resource, sharing []*resource.Resource, before *Table) *watchcache.Cache {
	prefix := r.StoragePrefix + "/"
	if c := t.Caches[prefix]; c != nil {
		return c
	}
	t.shards[prefix] = shard
	o := watchcache.Options{Prefix: prefix, Namespaced: r.Namespaced, Group: r.Group, Resource: r.Plural}
	for _, other := range sharing {
		if other.Custom == nil && !other.SharesStorage {
			reader := sync.OnceValue(func() *adopt.Reader { return adopt.For(other, sharing...) }) // rarely needed
			o.Read, o.TypePrefix = func(value []byte) ([]byte, error) { return reader().Read(value) }, TypePrefix(other.StorageGVK())
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
		if c := before.Caches[prefix]; c != nil && watchcache.SameFields(c.Options().Fields, o.Fields) {
			t.Caches[prefix] = c
			return c
		}
	}
	t.Caches[prefix] = shard.Hub.Add(o)
	return t.Caches[prefix]
}
