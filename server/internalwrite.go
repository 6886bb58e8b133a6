package server

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/respond"
	"fairlead.dev/watchcache"
)

// serverUser is the user of the server's own writes.
var serverUser = &auth.User{Name: "system:apiserver", Groups: []string{auth.MastersGroup, "system:authenticated"}}

// Amend changes an object in the server's own name, as if through a subresource, without
// admission and validation. f gets a copy of the present object, maybe several times, and
// reports whether it has changed it. Config.Written is not called. An object that does not
// exist is a NotFound.
func (s *Server) Amend(ctx context.Context, gr schema.GroupResource, name, subresource string, f func(resource.Object) bool) error {
	c, err := s.ownCall(ctx, gr, "", "update")
	if err != nil {
		return err
	}
	c.info.Name, c.info.Subresource = name, subresource
	now, err := c.read(name, watchcache.ReadAt{})
	if err != nil {
		return err
	}
	obj, err := c.decodeCurrent(now)
	if err != nil {
		return err
	}
	if !f(obj.DeepCopyObject().(resource.Object)) {
		return nil
	}
	_, _, err = c.modify(name, c.amendment(f))
	return err
}

func (c *call) amendment(f func(resource.Object) bool) (ch change) {
	ch.trusted = true
	ch.next = func(now *watchcache.Object, old resource.Object) (resource.Object, error) {
		obj := old.DeepCopyObject().(resource.Object)
		if f(obj) {
			c.recordFields(obj, old, now, "kube-apiserver")
		}
		return obj, nil
	}
	return ch
}

// Sweep deletes the objects of a resource, in the server's own name, and stops
// at the first that is refused.
func (s *Server) Sweep(ctx context.Context, gr schema.GroupResource) (err error) {
	for range redefinitions {
		if err = s.sweep(ctx, gr); err != errRedefined {
			return err
		}
		if err := s.cfg.Definitions.Settle(ctx); err != nil {
			return err
		}
	}
	return err
}

func (s *Server) sweep(ctx context.Context, gr schema.GroupResource) error {
	c, err := s.ownCall(ctx, gr, "", "deletecollection")
	if err != nil {
		return err
	}
	snap, err := c.ep.Cache.Snapshot(ctx, watchcache.ReadAt{})
	if err != nil {
		return err
	}
	objects, err := collect(snap.List(watchcache.Selection{}, "", 0))
	if err != nil {
		return err
	}
	return c.removeEach(objects, &metav1.DeleteOptions{})
}

// Remove deletes an object without a namespace, in the server's own name. One that is
// not there is a NotFound; one of that name with another UID is a Conflict.
func (s *Server) Remove(ctx context.Context, gr schema.GroupResource, name string, uid types.UID) error {
	c, err := s.ownCall(ctx, gr, "", "delete")
	if err != nil {
		return err
	}
	c.info.Name = name
	_, _, err = c.remove(name, &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}, true)
	return err
}

// ownCall returns a call of the server itself.
func (s *Server) ownCall(ctx context.Context, gr schema.GroupResource, namespace, verb string) (*call, error) {
	ep := s.table.Load().Stored[gr]
	if ep == nil || ep.Cache == nil {
		return nil, apierrors.NewNotFound(gr, "")
	}
	return s.callOf(ctx, ep, namespace, verb), nil
}

func (s *Server) callOf(ctx context.Context, ep *endpoint.Endpoint, namespace, verb string) *call {
	return &call{
		s: s, ctx: ctx, w: &respond.Writer{ResponseWriter: discardWriter{}}, req: &http.Request{}, user: serverUser, ep: ep, quiet: true,
		info: request.Info{IsResource: true, Verb: verb, Prefix: "apis", Group: ep.ServedGR.Group, Version: ep.ServedGVK.Version, Resource: ep.ServedGR.Resource, Namespace: namespace},
	}
}

// discardWriter discards the warnings of the server's own calls.
type discardWriter struct{}

func (discardWriter) Header() http.Header         { return http.Header{} }
func (discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (discardWriter) WriteHeader(int)             {}
