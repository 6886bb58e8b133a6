package auth

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Lookup reads present objects from the watch caches, as typed objects of their storage version. The objects are
// shared and must not be modified.
type Lookup interface {
	// Get returns a NotFound status error if there is no such object.
	Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (runtime.Object, error)
	// List returns the objects of a namespace, or all if it is empty.
	List(ctx context.Context, gr schema.GroupResource, namespace string) ([]runtime.Object, error)
}
