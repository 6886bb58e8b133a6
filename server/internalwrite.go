package server

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/resource"
)

// Amend changes an object as the server itself, as if through a subresource, without admission
// and validation. f gets a copy of the present object, maybe several times, and reports whether
// it has changed it. Config.Written is not called. Amend returns NotFound if there is no such
// object.
func (s *Server) Amend(ctx context.Context, gr schema.GroupResource, name, subresource string, f func(resource.Object) bool) error {
	return s.writer.Amend(ctx, gr, name, subresource, f)
}

// Sweep deletes the objects of a resource, as the server itself, and stops at the first that is
// refused.
func (s *Server) Sweep(ctx context.Context, gr schema.GroupResource) error {
	return s.writer.Sweep(ctx, gr)
}

// Remove deletes an object without a namespace, as the server itself. It returns NotFound if
// there is no object of the name, and Conflict if that has another UID.
func (s *Server) Remove(ctx context.Context, gr schema.GroupResource, name string, uid types.UID) error {
	return s.writer.Remove(ctx, gr, name, uid)
}

// Bootstrap creates the objects that a cluster starts with. An object that exists is replaced
// by the result of mend, unless that is nil. Objects have their kind set and are in their
// storage version. They skip admission. Their managed fields are those that kube-apiserver
// records.
func (s *Server) Bootstrap(ctx context.Context, objects []runtime.Object, mend func(have, want runtime.Object) runtime.Object) error {
	return s.writer.Bootstrap(ctx, objects, mend)
}
