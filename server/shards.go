package server

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Shard is a store of single resources, with revisions of its own.
type Shard struct {
	Store storage.Store
	// Resources are built-in resources; the resource "*" is all of the group that no shard names by themselves. Resources
	// that share their objects, such as the Events of two groups, go by the one that stores them, that of core. Custom
	// resources, their definitions and APIServices are in Config.Store whatever a shard names.
	Resources []schema.GroupResource
	// Writable returns why the store cannot be written; nil is a store that can be written while it answers.
	Writable func() error
}

// newShards opens the hubs of the stores.
func newShards(cfg *Config) (*endpoint.Shards, error) {
	if len(cfg.Shards) > 0 && cfg.Trace != nil {
		return nil, errors.New("Config.Trace excludes Config.Shards: a trace finds an event by its revision, which several stores have")
	}
	shards := &endpoint.Shards{ByName: map[schema.GroupResource]*endpoint.Shard{}}
	for _, one := range append([]Shard{{Store: cfg.Store}}, cfg.Shards...) {
		hub, err := watchcache.NewHub(one.Store, cfg.History)
		if err != nil {
			return nil, err
		}
		shard := &endpoint.Shard{Store: one.Store, Hub: hub}
		shards.All = append(shards.All, shard)
		for _, gr := range one.Resources {
			shards.ByName[gr] = shard
		}
	}
	return shards, endpoint.CheckTogether(shards.ByName)
}
