package endpoint

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/internal/resource"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// AllResources stands in a GroupResource for all resources of the group.
const AllResources = "*"

// A Shard is a store and the hub that follows it. Revisions of two shards cannot be compared.
type Shard struct {
	Store storage.Store
	Hub   *watchcache.Hub
}

// Shards are the stores of a server. They are never changed.
type Shards struct {
	// All are the shards; the first has all resources that no other has.
	All []*Shard
	// ByName has the shards of single resources, and of groups under AllResources.
	ByName map[schema.GroupResource]*Shard
}

// Run drives the hubs until ctx ends, which is no error, or a store is closed.
func (s *Shards) Run(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	for _, one := range s.All {
		all.Go(func() error { return one.Hub.Run(ctx) })
	}
	return all.Wait()
}

// Err returns why caches are incomplete or do not follow their store; see watchcache.Hub.Err.
func (s *Shards) Err() error {
	var errs []error
	for _, one := range s.All {
		errs = append(errs, one.Hub.Err())
	}
	return errors.Join(errs...)
}

// Stores returns the stores of all shards.
func (s *Shards) Stores() (list []storage.Store) {
	for _, one := range s.All {
		list = append(list, one.Store)
	}
	return list
}

// Of returns the shard that has the objects of a row that stores its own.
func (s *Shards) Of(r *resource.Resource) *Shard {
	if r.Custom == nil {
		if found := ShardOf(s.ByName, r.GroupResource()); found != nil {
			return found
		}
	}
	return s.All[0]
}

// ShardOf finds the shard of a built-in resource by its name or, failing that, its group's; the zero value is the first
// shard. Custom resources, their definitions and APIServices are always in the first one, as in kube-apiserver: a write of
// a custom resource has a condition on its definition.
func ShardOf[S any](byName map[schema.GroupResource]S, gr schema.GroupResource) (first S) {
	if gr.Group == apiextensionsv1.GroupName || gr.Group == apiregistrationv1.GroupName {
		return first
	}
	if found, ok := byName[gr]; ok {
		return found
	}
	return byName[schema.GroupResource{Group: gr.Group, Resource: AllResources}]
}

// CheckTogether returns an error if Services and IPAddresses are in different shards, which have no common transaction: an
// IPAddress is created and deleted in that of its Service, as an admission.Companion.
func CheckTogether[S comparable](byName map[schema.GroupResource]S) error {
	services, addresses := corev1.Resource("services"), schema.GroupResource{Group: networkingv1.GroupName, Resource: "ipaddresses"}
	if ShardOf(byName, services) != ShardOf(byName, addresses) {
		return fmt.Errorf("%s and %s must be in the same store: a Service is written in one transaction with its addresses", services, addresses)
	}
	return nil
}
