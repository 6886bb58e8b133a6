package resourcequota

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/served"
	"fairlead.dev/internal/quota"
)

// count computes a quota's usage. Resources that can't be counted are left out; if that is due to an error, it is
// returned beside the result.
func (c *counter) count(ctx context.Context, q *corev1.ResourceQuota) (corev1.ResourceList, error) {
	used := corev1.ResourceList{}
	errs := []error{
		sum(c, q, used, pods, c.pods),
		sum(c, q, used, services, c.services),
		sum(c, q, used, volumeClaims, c.claims),
		sum(c, q, used, deviceClaims, c.devices),
	}
	for name := range q.Spec.Hard {
		gr, ok := quota.Counted(name)
		if _, done := used[name]; !ok || done {
			continue
		}
		n, ok, err := c.number(ctx, gr, q)
		if ok {
			used[name] = *resource.NewQuantity(int64(n), resource.DecimalSI)
		}
		errs = append(errs, err)
	}
	return used, errors.Join(errs...)
}

// sum adds the usage of one resource's objects, for the names in the quota.
func sum[T client.Object](c *counter, q *corev1.ResourceQuota, used corev1.ResourceList, of schema.GroupResource, from controller.Objects[T]) error {
	m, _ := quota.For(of, c.others)
	covered := m.Covers(q.Spec.Hard)
	if len(covered) == 0 {
		return nil
	}
	total, bounded := corev1.ResourceList{}, slices.Collect(maps.Keys(q.Spec.Hard))
	for _, o := range from.Store().List(q.Namespace) {
		in, err := m.InScope(q, o)
		if err != nil {
			return err
		}
		if in {
			quota.AddTo(total, quota.Filter(m.Usage(o), bounded))
		}
	}
	for _, name := range covered {
		if _, any := total[name]; !any {
			total[name] = resource.Quantity{Format: resource.DecimalSI}
		}
	}
	quota.AddTo(used, total)
	return nil
}

// metadata is the informer of a resource that is only counted.
type metadata = *informer.Informer[*metav1.PartialObjectMetadata]

// number returns the number of objects of a resource. ok is false if it is not served.
func (c *counter) number(ctx context.Context, gr schema.GroupResource, q *corev1.ResourceQuota) (n int, ok bool, err error) {
	r, ok, err := c.find(ctx, gr)
	if !ok || err != nil {
		return 0, false, err
	}
	i := informer.Metadata(c.env.Informers, r.GVR, true)
	c.mu.Lock()
	if c.mu.follows[gr] != i { // the first time, or the resource was temporarily gone
		c.mu.follows[gr] = i
		i.Handle(informer.Handler[*metav1.PartialObjectMetadata]{
			Add:    func(o *metav1.PartialObjectMetadata, _ bool) { c.appeared(o) },
			Delete: func(o *metav1.PartialObjectMetadata) { c.wake(o, 0) },
		})
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	select {
	case <-i.Synced():
	case <-ctx.Done():
		return 0, false, fmt.Errorf("%s can't be counted: %w", gr, ctx.Err())
	}
	if in, err := (quota.Measure{}).InScope(q, nil); !in || err != nil {
		return 0, true, err // the quota has scopes, which such objects are never in
	}
	return len(i.Store().List(q.Namespace)), true, nil
}

// find looks up a resource among those served, by a discovery at most half a minute old.
func (c *counter) find(ctx context.Context, gr schema.GroupResource) (client.APIResource, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.mu.asked) > 30*time.Second {
		all, err := c.env.Client.ServerResources(ctx)
		if len(all) == 0 {
			return client.APIResource{}, false, err
		}
		c.mu.served, c.mu.asked = served.Once(all), time.Now()
	}
	for _, r := range c.mu.served {
		if r.GVR.GroupResource() == gr && r.Namespaced && r.Can("list", "watch") {
			return r, true, nil
		}
	}
	return client.APIResource{}, false, nil
}
