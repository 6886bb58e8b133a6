package admission

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/resource"
	"fairlead.dev/server/auth"
)

// Verb is the kind of a write.
type Verb string

// The writes that are admitted.
const (
	Create  Verb = "CREATE"
	Update  Verb = "UPDATE"
	Delete  Verb = "DELETE"
	Connect Verb = "CONNECT"
)

// Request is one write on its way.
type Request struct {
	Resource                              *resource.Resource
	Version, Subresource, Namespace, Name string
	Verb                                  Verb
	// Object is what will be written, of the storage version; nil for Delete.
	// Old is what is there now; nil for Create. For a subresource with a kind
	// of its own, Object is of that kind.
	Object, Old runtime.Object
	// User is never nil.
	User   *auth.User
	DryRun bool
	// Options is the *metav1.CreateOptions, UpdateOptions, PatchOptions or
	// DeleteOptions of the request, or nil.
	Options runtime.Object

	done []func(written bool)
}

// GroupResource names the resource, without its subresource.
func (r *Request) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Resource.Group, Resource: r.Resource.Plural}
}

// OnDone registers f to be called when it is known whether the write happened.
// Functions run in the reverse order of their registration.
func (r *Request) OnDone(f func(written bool)) { r.done = append(r.done, f) }

// Done tells the plugins what became of the write; for a dry run written is
// false. Only the first call counts.
func (r *Request) Done(written bool) {
	for i := len(r.done) - 1; i >= 0; i-- {
		r.done[i](written && !r.DryRun)
	}
	r.done = nil
}

// Plugin admits or refuses. Errors are *apierrors.StatusError.
type Plugin interface {
	Name() string
	Admit(ctx context.Context, r *Request) error
}

// Lookup reads the other objects a plugin decides by.
type Lookup = auth.Lookup

// Chain is plugins in their order.
type Chain []Plugin

// Admit asks each plugin until one refuses. When it fails, what the plugins
// took has been given back already.
func (c Chain) Admit(ctx context.Context, r *Request) error {
	for _, p := range c {
		if err := p.Admit(ctx, r); err != nil {
			r.Done(false)
			return err
		}
	}
	return nil
}
