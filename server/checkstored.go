package server

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/adopt"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// CheckStored returns a function that explains why a server of these resources cannot read the
// value of a key. It returns nil if the server can, or if the key is no object's. open decrypts
// values, as watchcache.HubOptions.Open does.
func CheckStored(resources []*resource.Resource, open watchcache.Opener) func(*storage.KeyValue) error {
	kinds := map[schema.GroupResource]watchcache.Options{}
	for _, r := range resources {
		if r.StoragePrefix != "" && !r.SharesStorage {
			sharing := slices.DeleteFunc(slices.Clone(resources), func(other *resource.Resource) bool { return other.StoragePrefix != r.StoragePrefix })
			kinds[r.GroupResource()] = watchcache.Options{Read: adopt.For(r, sharing...).Read, TypePrefix: endpoint.TypePrefix(r.StorageGVK())}
		}
	}
	of := endpoint.ResourceOfKey(resources)
	return func(kv *storage.KeyValue) error {
		gr, ok := of(kv.Key)
		if !ok {
			return nil
		}
		return watchcache.Check(kv, kinds[gr], open)
	}
}
