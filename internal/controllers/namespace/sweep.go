package namespace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"golang.org/x/sync/errgroup"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol"
	"fairlead.dev/internal/controllers/served"
)

// atOnce bounds the resources that one pass works on at a time.
const atOnce = 4

var podsResource = corev1.SchemeGroupVersion.WithResource("pods")

// remainder is the result of a sweep: remaining objects and errors.
type remainder struct {
	mu struct {
		sync.Mutex
		items      map[schema.GroupVersionResource]int
		finalizers map[string]int
		contentErr []error
		unexpected []error // about objects that remain without a finalizer
	}
	discoveryErr error
	podsEnding   bool // only terminating pods are in the way
}

func (r *remainder) remains() bool { return len(r.mu.items) > 0 }

func (r *remainder) err() error {
	return errors.Join(append(r.mu.contentErr, r.discoveryErr)...)
}

// left records the remaining objects of a resource. Objects without a finalizer should be gone, unless they are
// terminating gracefully.
func (r *remainder) left(gvr schema.GroupVersionResource, items []*metav1.PartialObjectMetadata, ending bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.items[gvr] = len(items)
	held := false
	for _, o := range items {
		for _, f := range o.Finalizers {
			r.mu.finalizers[f]++
			held = true
		}
	}
	if !held && !ending {
		r.mu.unexpected = append(r.mu.unexpected, fmt.Errorf("unexpected items still remain in namespace: %s for gvr: %v", items[0].Namespace, gvr))
	}
}

// sweep deletes the contents of the namespace and returns the remainder.
func (n *namespaces) sweep(ctx context.Context, ns *corev1.Namespace) *remainder {
	namespace, ending := ns.Name, time.Since(ns.DeletionTimestamp.Time) < n.grace(ns.Name)
	r := &remainder{}
	r.mu.items = make(map[schema.GroupVersionResource]int)
	r.mu.finalizers = make(map[string]int)

	resources, err := n.env.Client.ServerResources(ctx)
	r.discoveryErr = err
	// Resources of one name in several groups, as events are, may be the same objects, which must not be deleted
	// twice at the same time: they are processed in sequence.
	rest := make(map[string][]client.APIResource)
	for _, res := range served.Once(resources) {
		switch {
		case !res.Namespaced || !res.Can("delete"):
		case res.GVR == podsResource:
			n.clear(ctx, r, res, namespace, ending)
		default:
			rest[res.GVR.Resource] = append(rest[res.GVR.Resource], res)
		}
	}
	if r.mu.items[podsResource] > 0 {
		r.podsEnding = len(r.mu.finalizers) == 0 && r.err() == nil
		return r
	}
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, namesakes := range rest {
		g.Go(func() error {
			for _, res := range namesakes {
				n.clear(ctx, r, res, namespace, false)
			}
			return nil
		})
	}
	_ = g.Wait() // errors are in r
	return r
}

// grace returns how long the pods of a namespace may take to terminate.
func (n *namespaces) grace(namespace string) time.Duration {
	longest := int64(0)
	for _, p := range n.pods.Store().List(namespace) {
		if g := p.Spec.TerminationGracePeriodSeconds; g != nil && !podcontrol.IsFinished(p) {
			longest = max(longest, *g)
		}
	}
	return time.Duration(longest) * time.Second
}

// clear deletes one resource's objects in the namespace and records the remainder.
func (n *namespaces) clear(ctx context.Context, r *remainder, res client.APIResource, namespace string, ending bool) {
	items, err := n.empty(ctx, res, namespace)
	if len(items) > 0 {
		r.left(res.GVR, items, ending || err != nil)
	}
	// A resource that vanished since discovery has no objects either.
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.mu.contentErr = append(r.mu.contentErr, err)
	}
}

// empty deletes the objects and returns those that remain. The server admits no creates in a terminating namespace,
// so an empty first list is final.
func (n *namespaces) empty(ctx context.Context, res client.APIResource, namespace string) ([]*metav1.PartialObjectMetadata, error) {
	api := client.Metadata(n.env.Client, res.GVR, true).Namespace(namespace)
	if !res.Can("list") {
		if !res.Can("deletecollection") {
			return nil, nil
		}
		return nil, api.DeleteCollection(ctx, background(), metav1.ListOptions{})
	}
	first, err := api.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil || len(first.Items) == 0 {
		return nil, err
	}
	if res.Can("deletecollection") {
		err = api.DeleteCollection(ctx, background(), metav1.ListOptions{})
	} else {
		err = deleteEach(ctx, api)
	}
	list, listErr := api.List(ctx)
	return list.Items, errors.Join(err, listErr)
}

// deleteEach is for resources without deletecollection.
func deleteEach(ctx context.Context, api client.Resource[*metav1.PartialObjectMetadata]) error {
	list, err := api.List(ctx)
	for _, o := range list.Items {
		if e := api.Delete(ctx, o.GetName(), background()); e != nil && !apierrors.IsNotFound(e) {
			err = e
		}
	}
	return err
}

func background() metav1.DeleteOptions {
	policy := metav1.DeletePropagationBackground
	return metav1.DeleteOptions{PropagationPolicy: &policy}
}
