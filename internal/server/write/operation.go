package write

import (
	"context"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Config has the parts of a server that writes need.
type Config struct {
	// NoGarbageCollection adds no finalizers of the garbage collector, because they would stay.
	NoGarbageCollection bool
	*call.Environment
	// Committer commits to the store of the call's endpoint, perhaps decorated.
	Committer Committer
	// Admission is the chain of plugins, perhaps decorated.
	Admission Admission
	// Written is called after each write of an object of the resource, before it is answered.
	Written map[schema.GroupResource]func(ctx context.Context, at storage.Revision)
	// Stale, if set, reports whether the value of a key in a store is to be written again without
	// a change.
	Stale func(ctx context.Context, s storage.Store, key string) (bool, error)
	// CBOR lets clients apply configurations in CBOR.
	CBOR bool
	// EventTTL is the time for which objects that expire are kept after their last change, not
	// above 0 for ever.
	EventTTL time.Duration
}

// Admission calls admission plugins; see admission.Chain.
type Admission interface {
	Admit(ctx context.Context, r *admission.Request) error
	Complete(ctx context.Context, r *admission.Request) error
	Validate(ctx context.Context, r *admission.Request) error
	// All calls all plugins, for objects that are not stored by themselves.
	All(ctx context.Context, r *admission.Request) error
}

// A Committer commits the transaction of a call.
type Committer interface {
	Commit(c *call.Call, t storage.Txn) (storage.TxnResult, error)
}

// Writer serves the verbs that change stored objects. Its methods may be called from any
// goroutine.
type Writer struct {
	Config
	cache  writeCache
	merges merges
	leases eventLeases
}

// Operation is one call that writes. It belongs to the goroutine that serves the call.
type Operation struct {
	*call.Call
	w *Writer
	// internal: the server itself writes, and Config.Written is not called.
	internal bool
	// keepsManagedFields: a write that is too large fails rather than drop its managed fields.
	keepsManagedFields bool
	// replaced: admission has put another object in place of the one asked for.
	replaced bool
	// lastRead is the object decoded last.
	lastRead lastRead
}

// lastRead is a decoded object with its text without managed fields.
type lastRead struct {
	of   *watchcache.Object
	text []byte
	// unknown reports that the text may have fields that the Go type lacks.
	unknown bool
}

// Operation begins a write by a call.
func (w *Writer) Operation(c *call.Call) *Operation { return &Operation{Call: c, w: w} }

// For returns an operation on another object of the same call.
func (c *Operation) For(ep *endpoint.Endpoint, name, subresource string) *Operation {
	sub := *c
	one := *c.Call
	sub.Call = &one
	one.Endpoint, one.Info.Name, one.Info.Subresource = ep, name, subresource
	return &sub
}

// Decode returns the object as a Go value that the operation may change.
func (c *Operation) Decode(now *watchcache.Object) (resource.Object, error) {
	if obj := c.w.cache.take(c.Endpoint, now); obj != nil {
		c.lastRead.of, c.lastRead.unknown = nil, false
		return obj, nil
	}
	text, entries := managed.Cut(now.Value())
	obj, unknown, err := c.Endpoint.DecodeStored(c.Context, text, entries, now.Revision())
	if err != nil {
		return nil, err
	}
	c.lastRead = lastRead{now, text, unknown}
	return endpoint.AsObject(obj)
}

// Admission returns the chain of plugins.
func (c *Operation) Admission() Admission { return c.w.Admission }

// textOf returns an object's stored text without managed fields.
func (c *Operation) textOf(now *watchcache.Object) []byte {
	if c.lastRead.of == now {
		return c.lastRead.text
	}
	text, _ := managed.Cut(now.Value())
	return text
}

// encode makes the value to be stored of an object of the hub version.
func (c *Operation) encode(obj resource.Object) (*Written, error) {
	e, err := c.Endpoint.EncodeStored(c.Context, obj, c.replaced)
	if err != nil {
		return nil, err
	}
	return &Written{obj: e.Object, key: c.Endpoint.Key(e.Object.GetNamespace(), e.Object.GetName()), value: e.Value, exact: e.Exact}, nil
}

// setDefaults sets the kind's defaults.
func (c *Operation) setDefaults(obj runtime.Object) {
	if f := c.Endpoint.Strategy.Default; f != nil {
		f(obj)
	}
}

// AdmissionRequest describes the write to the admission plugins.
func (c *Operation) AdmissionRequest(v admission.Verb, obj, old, opts runtime.Object) *admission.Request {
	return &admission.Request{
		Warn:     func(text string) { c.Warn(text) },
		Waits:    c.Call,
		Resource: c.Endpoint.Resource, Version: c.Endpoint.ServedVersion.Name, Subresource: c.Info.Subresource,
		Namespace: c.Namespace(), Name: c.Info.Name,
		Verb: v, RequestVerb: c.Info.Verb, Object: obj, Old: old, User: c.User, DryRun: c.DryRun, Options: opts,
	}
}

// answer sends the object, from the stored bytes if the client has negotiated JSON of the
// storage version.
func (c *Operation) answer(w *Written, code int) error {
	if w.obj != nil && (w.rev == 0 || w.value == nil || !c.Endpoint.Raw || c.Accept.Shape != request.AsObject || !c.Accept.Media.IsText()) {
		return c.AnswerTyped(code, w.obj, w.obj.GetResourceVersion())
	}
	o, err := watchcache.NewObject(&storage.KeyValue{Key: w.key, Value: w.value, ModRevision: w.rev}, c.Endpoint.Cache)
	if err != nil {
		return err
	}
	c.Cache(w)
	return c.AnswerStored(code, o)
}

// Cache puts the object that the operation has written into the write cache. The operation must
// not use the object after that. Objects that expire, such as events, are not kept: they are
// rarely written again.
func (c *Operation) Cache(w *Written) {
	obj, ep := w.obj, c.Endpoint
	if !w.stored || obj == nil || c.lastRead.unknown || ep.GoType == nil || reflect.TypeOf(obj).Elem() != ep.GoType || ep.Strategy.Expires {
		return
	}
	w.obj = nil
	if w.exact {
		c.w.cache.give(w.key, cachedWrite{w.rev, ep, obj})
	}
}
