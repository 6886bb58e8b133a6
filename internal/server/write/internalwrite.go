package write

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/read"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/respond"
	"fairlead.dev/watchcache"
)

// Amend changes an object as the server itself, as if through a subresource, without
// admission and validation. f gets a copy of the present object, maybe several times, and
// reports whether it has changed it. Config.Written is not called. Amend returns
// NotFound if there is no such object.
func (w *Writer) Amend(ctx context.Context, gr schema.GroupResource, name, subresource string, f func(resource.Object) bool) error {
	c, err := w.begin(ctx, gr, "", "update")
	if err != nil {
		return err
	}
	c.Info.Name, c.Info.Subresource = name, subresource
	now, err := c.Read(name, watchcache.ReadAt{})
	if err != nil {
		return err
	}
	obj, err := c.Decode(now)
	if err != nil {
		return err
	}
	if !f(obj.DeepCopyObject().(resource.Object)) {
		return nil
	}
	_, _, err = c.Modify(name, c.amendment(f))
	return err
}

func (c *Operation) amendment(f func(resource.Object) bool) (ch Change) {
	ch.Trusted = true
	ch.Next = func(now *watchcache.Object, old resource.Object) (resource.Object, error) {
		obj := old.DeepCopyObject().(resource.Object)
		if f(obj) {
			c.RecordInternal(obj, old, now)
		}
		return obj, nil
	}
	return ch
}

// Sweep deletes the objects of a resource, as the server itself, and stops at the
// first that is refused.
func (w *Writer) Sweep(ctx context.Context, gr schema.GroupResource) (err error) {
	for range endpoint.Redefinitions {
		if err = w.sweep(ctx, gr); err != endpoint.ErrRedefined {
			return err
		}
		if err := w.Registry.Definitions.Settle(ctx); err != nil {
			return err
		}
	}
	return err
}

func (w *Writer) sweep(ctx context.Context, gr schema.GroupResource) error {
	c, err := w.begin(ctx, gr, "", "deletecollection")
	if err != nil {
		return err
	}
	snap, err := c.Endpoint.Cache.Snapshot(ctx, watchcache.ReadAt{})
	if err != nil {
		return err
	}
	objects, err := read.Collect(snap.List(watchcache.Selection{}, "", 0))
	if err != nil {
		return err
	}
	return c.removeEach(objects, &metav1.DeleteOptions{})
}

// Remove deletes an object without a namespace, as the server itself. It returns NotFound if
// there is no object of the name, and Conflict if that has another UID.
func (w *Writer) Remove(ctx context.Context, gr schema.GroupResource, name string, uid types.UID) error {
	c, err := w.begin(ctx, gr, "", "delete")
	if err != nil {
		return err
	}
	c.Info.Name = name
	_, _, err = c.Remove(name, &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}, true)
	return err
}

// serverUser is the user of the server's own writes.
var serverUser = &auth.User{Name: "system:apiserver", Groups: []string{auth.MastersGroup, "system:authenticated"}}

// begin returns an operation of the server itself on a resource.
func (w *Writer) begin(ctx context.Context, gr schema.GroupResource, namespace, verb string) (*Operation, error) {
	ep := w.Registry.Stored(gr)
	if ep == nil {
		return nil, apierrors.NewNotFound(gr, "")
	}
	return w.internal(ctx, ep, namespace, verb), nil
}

// internal returns an operation of the server itself at an endpoint.
func (w *Writer) internal(ctx context.Context, ep *endpoint.Endpoint, namespace, verb string) *Operation {
	return &Operation{w: w, internal: true, Call: &call.Call{
		Environment: w.Environment, Context: ctx, HTTP: &http.Request{}, User: serverUser, Endpoint: ep,
		Writer: &respond.Writer{ResponseWriter: discardWriter{}},
		Info:   request.Info{IsResource: true, Verb: verb, Prefix: "apis", Group: ep.ServedGR.Group, Version: ep.ServedGVK.Version, Resource: ep.ServedGR.Resource, Namespace: namespace},
	}}
}

// discardWriter discards the warnings of the server's own calls.
type discardWriter struct{}

func (discardWriter) Header() http.Header         { return http.Header{} }
func (discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (discardWriter) WriteHeader(int)             {}
