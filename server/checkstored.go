package server

import (
	"strings"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/adopt"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// CheckStored returns a function that explains why a server of these resources cannot read the
// value of a key. It returns nil if the server can, or if the key is no object's.
func CheckStored(resources []*resource.Resource) func(*storage.KeyValue) error {
	kinds := map[string]watchcache.Options{}
	for _, r := range resources {
		if r.StoragePrefix != "" && !r.SharesStorage {
			kinds[r.StoragePrefix+"/"] = watchcache.Options{Read: adopt.For(r).Read, TypePrefix: endpoint.TypePrefix(r.StorageGVK())}
		}
	}
	return func(kv *storage.KeyValue) error {
		for i := strings.LastIndexByte(kv.Key, '/'); i >= 0; i = strings.LastIndexByte(kv.Key[:i], '/') {
			if o, ok := kinds[kv.Key[:i+1]]; ok {
				return watchcache.Check(kv, o)
			}
		}
		group, _, deeper := strings.Cut(strings.TrimPrefix(kv.Key, watchcache.Root), "/")
		if deeper && strings.Contains(group, ".") && strings.HasPrefix(kv.Key, watchcache.Root) { // a custom kind's
			return watchcache.Check(kv, watchcache.Options{})
		}
		return nil
	}
}
