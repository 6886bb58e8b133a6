package admission

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/auth"
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
	// of its own, both are of that kind.
	Object, Old runtime.Object
	// User is never nil.
	User   *auth.User
	DryRun bool
	// Options is the *metav1.CreateOptions, UpdateOptions or DeleteOptions of
	// the request, or nil.
	Options runtime.Object
	// Warn adds a warning to the answer; nil drops it.
	Warn func(text string)
	// Faults are what completers find wrong with the object. Validation tells them, ahead
	// of what it finds itself.
	Faults field.ErrorList
	// Timer, if set, is the chain's.
	Timer *Timer

	done       []func(written bool)
	companions []Companion
	again      bool // a plugin has changed the object after others had seen it
	secondRun  bool
	notes      map[any]any
}

// GroupResource names the resource, without its subresource.
func (r *Request) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Resource.Group, Resource: r.Resource.Plural}
}

// GVR is the resource in the version of the request.
func (r *Request) GVR() schema.GroupVersionResource { return r.Resource.GVR(r.Version) }

// OwnKind says that the request is for a subresource whose body is of another
// kind than the resource.
func (r *Request) OwnKind() bool {
	sub := r.Resource.Subresource(r.Subresource)
	return sub != nil && sub.Kind != "" && sub.Kind != r.Resource.Kind
}

// KindIn is the kind of the request's body for one who asks in a version of a row
// that shares the request's storage.
func (r *Request) KindIn(row *resource.Resource, version string) schema.GroupVersionKind {
	gvk := row.GVK(version)
	if sub := row.Subresource(r.Subresource); sub != nil && sub.Kind != "" {
		gvk.Kind = sub.Kind
		if sub.Version != "" {
			gvk.Group, gvk.Version = sub.Group, sub.Version
		}
	}
	return gvk
}

// Kind is the kind of the request's body.
func (r *Request) Kind() schema.GroupVersionKind { return r.KindIn(r.Resource, r.Version) }

// Home is the namespace as admission counts it: a namespace is in itself.
func (r *Request) Home() string {
	if r.GroupResource() == core("namespaces") {
		return r.Name
	}
	return r.Namespace
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

// Again asks for a second run of all mutators, because what they decided by has
// changed. There is no third.
func (r *Request) Again() { r.again = true }

// SecondRun says that the mutators run once more.
func (r *Request) SecondRun() bool { return r.secondRun }

// Note returns what a plugin keeps with the request under a key of its own type,
// which is made by the first who asks.
func Note[T any](r *Request, key any) *T {
	if v, ok := r.notes[key]; ok {
		return v.(*T)
	}
	if r.notes == nil {
		r.notes = map[any]any{}
	}
	v := new(T)
	r.notes[key] = v
	return v
}

// Plugin is a [Mutator], a [Completer], a [Validator] or several of them. Errors of
// all are *apierrors.StatusError.
type Plugin interface {
	Name() string
}

// Mutator changes an object or refuses it, before it has its name and UID. It may
// run twice on one object.
type Mutator interface {
	Plugin
	Admit(ctx context.Context, r *Request) error
}

// Completer does once, when all mutators are through, what only the server may do to an
// object: what it takes from a pool, who is written into it.
type Completer interface {
	Plugin
	Complete(ctx context.Context, r *Request) error
}

// Validator refuses an object that is as it will be written. It changes nothing.
type Validator interface {
	Plugin
	Validate(ctx context.Context, r *Request) error
}

// Lookup reads the other objects a plugin decides by.
type Lookup = auth.Lookup

// Chain is plugins in their order.
type Chain []Plugin

// Admit asks each mutator until one refuses, and all once more if one asks for it.
// When it fails, what the plugins took has been given back already; so it is with
// Complete and Validate.
func (c Chain) Admit(ctx context.Context, r *Request) error {
	at := r.Timer.now()
	for {
		for i, p := range c {
			if m, ok := p.(Mutator); ok {
				err := m.Admit(ctx, r)
				at = r.Timer.passed(i, r.Verb, admit, err, at)
				if err != nil {
					r.Done(false)
					return err
				}
			}
		}
		if !r.again || r.secondRun {
			return nil
		}
		r.secondRun = true
	}
}

// Complete asks each completer.
func (c Chain) Complete(ctx context.Context, r *Request) error {
	for _, p := range c {
		if m, ok := p.(Completer); ok {
			if err := m.Complete(ctx, r); err != nil {
				r.Done(false)
				return err
			}
		}
	}
	return nil
}

// Validate asks each validator.
func (c Chain) Validate(ctx context.Context, r *Request) error {
	at := r.Timer.now()
	for i, p := range c {
		if v, ok := p.(Validator); ok {
			err := v.Validate(ctx, r)
			at = r.Timer.passed(i, r.Verb, validate, err, at)
			if err != nil {
				r.Done(false)
				return err
			}
		}
	}
	return nil
}

// All is the three of them, for what is not stored by itself: deletes, and bodies
// of subresources.
func (c Chain) All(ctx context.Context, r *Request) error {
	if err := c.Admit(ctx, r); err != nil {
		return err
	}
	if err := c.Complete(ctx, r); err != nil {
		return err
	}
	return c.Validate(ctx, r)
}
