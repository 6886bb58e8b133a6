package admission

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/auth"
)

// Verb is the operation of a write.
type Verb string

// The operations subject to admission.
const (
	Create  Verb = "CREATE"
	Update  Verb = "UPDATE"
	Delete  Verb = "DELETE"
	Connect Verb = "CONNECT"
)

// Request is an admission request: one write.
type Request struct {
	Resource                              *resource.Resource
	Version, Subresource, Namespace, Name string
	Verb                                  Verb
	// RequestVerb is the verb for which the request was authorized, such as "patch".
	RequestVerb string
	// Object is the object to be written, in the storage version; nil for Delete. Old is the existing object; nil
	// for Create. For a subresource with a kind of its own, both are of that kind.
	Object, Old runtime.Object
	// User is never nil.
	User   *auth.User
	DryRun bool
	// Options is the *metav1.CreateOptions, UpdateOptions or DeleteOptions of
	// the request, or nil.
	Options runtime.Object
	// Warn adds a warning to the response; nil discards it.
	Warn func(text string)
	// Waits is told how long the request waited for webhooks; it may be nil.
	Waits interface{ Wait(time.Duration) }
	// Faults are errors that completers find in the object. Validation reports them before its own.
	Faults field.ErrorList
	// Timer, if set, measures the chain.
	Timer *Timer

	done       []func(written bool)
	companions []Companion
	// reservations are those added by Reserve.
	reservations []Reservation
	again        bool // a plugin has asked for reinvocation
	secondRun    bool
	notes        map[any]any
}

// GroupResource returns the resource, without its subresource.
func (r *Request) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Resource.Group, Resource: r.Resource.Plural}
}

// GVR returns the resource in the version of the request.
func (r *Request) GVR() schema.GroupVersionResource { return r.Resource.GVR(r.Version) }

// OwnKind reports whether the request is for a subresource whose body has another kind than the resource.
func (r *Request) OwnKind() bool {
	sub := r.Resource.Subresource(r.Subresource)
	return sub != nil && sub.Kind != "" && sub.Kind != r.Resource.Kind
}

// KindIn returns the kind of the request's body as seen in a version of row, which shares the request's storage.
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

// Kind returns the kind of the request's body.
func (r *Request) Kind() schema.GroupVersionKind { return r.KindIn(r.Resource, r.Version) }

// Home returns the namespace for selectors and policies: a Namespace is in itself.
func (r *Request) Home() string {
	if r.GroupResource() == core("namespaces") {
		return r.Name
	}
	return r.Namespace
}

// OnDone registers f to be called once the outcome of the write is known. Functions run in reverse order of
// registration.
func (r *Request) OnDone(f func(written bool)) { r.done = append(r.done, f) }

// Done reports the outcome of the write to the plugins; for a dry run written is false. Only the first call counts.
func (r *Request) Done(written bool) {
	for i := len(r.done) - 1; i >= 0; i-- {
		r.done[i](written && !r.DryRun)
	}
	r.done = nil
}

// Again asks for one reinvocation of all mutators, because the object they decided on has changed. There is at most
// one.
func (r *Request) Again() { r.again = true }

// SecondRun reports whether the mutators are being reinvoked.
func (r *Request) SecondRun() bool { return r.secondRun }

// Note returns the data that a plugin keeps with the request under a key of its own type. It is created on first
// use.
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

// Plugin is a [Mutator], a [Completer], a [Validator] or several of them. All errors are *apierrors.StatusError.
type Plugin interface {
	Name() string
}

// Mutator changes an object or rejects it, before it has its name and UID. It may run twice on one object.
type Mutator interface {
	Plugin
	Admit(ctx context.Context, r *Request) error
}

// Completer runs once, after all mutators. It makes changes reserved to the server, such as allocating addresses or
// recording the user.
type Completer interface {
	Plugin
	Complete(ctx context.Context, r *Request) error
}

// Validator rejects an object in its final state. It does not modify the object.
type Validator interface {
	Plugin
	Validate(ctx context.Context, r *Request) error
}

// Lookup reads the other objects that a plugin's decision depends on.
type Lookup = auth.Lookup

// Chain is a list of plugins in the order of their invocation.
type Chain []Plugin

// Admit runs the mutators until one rejects the request, and all of them again if one asks for it. If it fails,
// everything the plugins allocated has been released; the same holds for Complete and Validate.
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

// Complete runs the completers.
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

// Validate runs the validators.
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

// All runs Admit, Complete and Validate, for requests without an object of their own in the store: deletes, and
// bodies of subresources.
func (c Chain) All(ctx context.Context, r *Request) error {
	if err := c.Admit(ctx, r); err != nil {
		return err
	}
	if err := c.Complete(ctx, r); err != nil {
		return err
	}
	return c.Validate(ctx, r)
}
