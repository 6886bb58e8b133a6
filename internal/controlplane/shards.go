package controlplane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/storage/encryption"
	"fairlead.dev/server"
)

// EtcdOverride is the etcd cluster of one built-in resource, or of all of a group by the name "*". It has the prefix and the
// TLS files of the other cluster.
type EtcdOverride struct {
	Resource schema.GroupResource
	Servers  []string
}

// shard is the store of the resources of overrides with the same servers.
type shard struct {
	store
	servers   []string
	resources []schema.GroupResource
}

// shards returns the shards of the overrides, not opened, in the order in which kube-apiserver numbers its health checks. The
// last override of a resource counts.
func (e Etcd) shards() (list []shard) {
	byServers, byName := map[string]int{}, map[schema.GroupResource]int{}
	for _, o := range e.Overrides {
		key := strings.Join(slices.Sorted(slices.Values(o.Servers)), ";")
		i, ok := byServers[key]
		if !ok {
			i = len(list)
			byServers[key] = i
			list = append(list, shard{servers: o.Servers})
		}
		byName[o.Resource] = i
	}
	for gr, i := range byName {
		list[i].resources = append(list[i].resources, gr)
	}
	for _, s := range list {
		slices.SortFunc(s.resources, func(a, b schema.GroupResource) int { return strings.Compare(a.String(), b.String()) })
	}
	return list
}

// joined returns the names of resources in one text.
func joined(resources []schema.GroupResource) string {
	var names []string
	for _, gr := range resources {
		names = append(names, gr.String())
	}
	return strings.Join(names, ", ")
}

// check returns an error for overrides that the server cannot have.
func (e Etcd) check() error {
	if len(e.Overrides) > 0 && len(e.Servers) == 0 {
		return optionErrorf("--etcd-servers must be specified with --etcd-servers-overrides: the embedded store has all resources")
	}
	byName := map[schema.GroupResource]int{}
	for i, s := range e.shards() {
		for _, gr := range s.resources {
			byName[gr] = i + 1
		}
	}
	if err := endpoint.CheckTogether(byName); err != nil {
		return optionErrorf("--etcd-servers-overrides: %w", err)
	}
	return nil
}

// openShards opens the stores of the overrides.
func (cp *ControlPlane) openShards(ctx context.Context) (err error) {
	for _, s := range cp.options.Etcd.shards() {
		if s.store, err = openEtcd(ctx, cp.options, s.servers); err != nil {
			return err
		}
		cp.shards = append(cp.shards, s)
	}
	return nil
}

// warnOverrides warns of overrides that name no resource which they can move.
func (cp *ControlPlane) warnOverrides(rows []*resource.Resource) {
	for _, s := range cp.shards {
		for _, gr := range s.resources {
			one := map[schema.GroupResource]bool{gr: true}
			if !slices.ContainsFunc(rows, func(r *resource.Resource) bool {
				return r.StoragePrefix != "" && !r.SharesStorage && endpoint.ShardOf(one, r.GroupResource())
			}) {
				cp.options.warn("etcd", fmt.Sprintf("--etcd-servers-overrides: %s/%s has no effect: it names no built-in resource that is stored by itself, apart from definitions and APIServices", gr.Group, gr.Resource))
			}
		}
	}
}

// serverShards returns the shards for the server, which encrypt if there are keys.
func (cp *ControlPlane) serverShards() (list []server.Shard) {
	for _, s := range cp.shards {
		list = append(list, server.Shard{Store: encrypted(s.store, cp.keys), Resources: s.resources, Writable: s.Err})
	}
	return list
}

// encrypted returns the store with encrypted values, if there are keys.
func encrypted(s store, keys *encryption.Keys) store {
	if keys == nil {
		return s
	}
	return encryptedStore{keys.Store(s), s}
}

// StoreErr is the reason why a store cannot be written now, nil if all can.
func (cp *ControlPlane) StoreErr() error {
	errs := []error{cp.store.Err()}
	for _, s := range cp.shards {
		errs = append(errs, s.Err())
	}
	return errors.Join(errs...)
}
