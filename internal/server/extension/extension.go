package extension

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/custom"
	"fairlead.dev/server"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Definitions is the resource of CustomResourceDefinitions.
var Definitions = schema.GroupResource{Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions"}

// Options configure Extensions.
type Options struct {
	Server *server.Server
	// Builtin are the built-in resources. They take precedence over definitions of the same name.
	Builtin []*resource.Resource
	// Describes are passed each new set of resources, as in server.Server.Set.
	Describes []server.Describer
	// Known are kinds of another server whose store began like this one's: they are not read again.
	Known Kinds
	// Webhook returns the converter of a definition with a conversion webhook.
	Webhook func(*apiextensionsv1.CustomResourceDefinition) custom.Converter
	Log     *slog.Logger // nil discards
}

// Extensions serves the kinds of a server's definitions.
type Extensions struct {
	o       Options
	builtin map[schema.GroupVersionResource]bool
	mu      struct {
		sync.Mutex
		served map[string]*served // by the definition's name
	}
	// at is the revision up to which definitions have taken effect.
	at        atomic.Int64
	deletions deletions
}

// Kinds are kinds that several servers may serve, by the name and revision of their definition.
type Kinds map[revised]*served

type revised struct {
	name string
	at   storage.Revision
}

// Kinds returns the kinds that are served and whose definitions have their final status.
func (x *Extensions) Kinds() Kinds {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := Kinds{}
	for name, s := range x.mu.served {
		if !s.open {
			all[revised{name, s.from}] = s
		}
	}
	return all
}

// served is a definition in effect.
type served struct {
	from storage.Revision // of the definition
	kind *custom.Kind
	rows []*resource.Resource
	// definition is its present state; the kind's may be an older one that is served identically.
	definition *apiextensionsv1.CustomResourceDefinition
	open       bool // its status must be computed
}

// New serves the kinds of all stored definitions.
func New(ctx context.Context, o Options) (*Extensions, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	x := &Extensions{o: o, builtin: map[schema.GroupVersionResource]bool{}}
	for _, r := range o.Builtin {
		for _, v := range r.Versions {
			x.builtin[r.GVR(v.Name)] = true
		}
	}
	x.mu.served = map[string]*served{}
	return x, x.sync(ctx)
}

// Written must be called after each write of a definition (see server.Config.Written). It returns when the
// definition has taken effect.
func (x *Extensions) Written(ctx context.Context, at storage.Revision) {
	if x.past(at) {
		return
	}
	if err := x.sync(context.WithoutCancel(ctx)); err != nil {
		x.o.Log.Error("custom resource definitions have not taken effect", "error", err)
	}
}

func (x *Extensions) past(at storage.Revision) bool { return x.at.Load() >= int64(at) }

// Settled implements server.Definitions.
func (x *Extensions) Settled() bool {
	changed, err := x.o.Server.Cache(Definitions).Changed(context.Background(), watchcache.ReadAt{Match: watchcache.Any})
	return err != nil || x.past(changed)
}

// Settle implements server.Definitions.
func (x *Extensions) Settle(ctx context.Context) error {
	changed, err := x.o.Server.Cache(Definitions).Changed(ctx, watchcache.ReadAt{})
	if err != nil || x.past(changed) {
		return err
	}
	return x.sync(ctx)
}

// Run follows the definitions, and completes the deletion of those that are deleted, until ctx ends.
func (x *Extensions) Run(ctx context.Context) error {
	defer x.deletions.wait()
	for ctx.Err() == nil {
		if err := x.follow(ctx); err != nil && ctx.Err() == nil {
			x.o.Log.Warn("watch of custom resource definitions failed, retrying", "error", err)
			if !pause(ctx) {
				break
			}
		}
	}
	return nil
}

func (x *Extensions) follow(ctx context.Context) error {
	cache := x.o.Server.Cache(Definitions)
	w, err := cache.Watch(ctx, every, 0)
	if err != nil {
		return err
	}
	defer w.Close()
	for {
		if err := x.sync(ctx); err != nil {
			return err
		}
		x.startDeletions(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-w.Bell():
		}
		for {
			events, _, err := w.Next()
			if err != nil {
				return err
			}
			if len(events) == 0 {
				break
			}
		}
	}
}

// kindOf returns the resource that a definition defines.
func (x *Extensions) kindOf(name string) schema.GroupResource {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.mu.served[name]; s != nil {
		return s.kind.GroupResource()
	}
	return schema.GroupResource{}
}
