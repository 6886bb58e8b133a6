package extension

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/custom"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// sync brings the served kinds up to date with the stored definitions.
func (x *Extensions) sync(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		snap, err := x.o.Server.Cache(Definitions).Snapshot(ctx, watchcache.ReadAt{})
		if err != nil {
			return err
		}
		changed := x.load(snap)
		wanted := x.settle()
		if changed || len(wanted) > 0 {
			x.serve()
		}
		x.at.Store(int64(snap.Revision()))
		x.o.Server.Resume()
		if len(wanted) == 0 {
			return nil
		}
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			if err := x.writeStatus(ctx, name, wanted[name]); err != nil {
				return err
			}
		}
	}
}

// load reads the definitions of the snapshot, and reports whether the served set may have to change.
func (x *Extensions) load(snap *watchcache.Snapshot) (changed bool) {
	there := map[string]bool{}
	for o := range readable(snap) {
		name := o.Name()
		there[name] = true
		was := x.mu.served[name]
		if was != nil && was.from == o.Revision() {
			continue
		}
		now, err := x.read(o)
		if err != nil {
			x.o.Log.Error("custom resource definition ignored", "name", name, "error", err)
			delete(there, name)
			continue
		}
		if was != nil && was.kind.Same(now.kind) {
			now.kind, now.rows = was.kind, was.rows
			now.kind.Renew(int64(o.Revision()), o.Value())
		} else {
			changed = true
		}
		x.mu.served[name] = now
	}
	for name := range x.mu.served {
		if !there[name] && !snap.Unreadable("", name) { // an unreadable one stays in effect as it was
			delete(x.mu.served, name)
			changed = true
		}
	}
	return changed
}

// read returns a definition that is not in effect yet.
func (x *Extensions) read(o *watchcache.Object) (*served, error) {
	options := custom.Options{Key: o.Key(), Revision: int64(o.Revision()), Webhook: x.o.Webhook}
	if known := x.o.Known[revised{o.Name(), o.Revision()}]; known != nil {
		return &served{from: known.from, kind: known.kind.For(options), definition: known.definition}, nil
	}
	k, err := custom.New(o.Value(), options)
	if err != nil {
		return nil, err
	}
	return &served{from: o.Revision(), kind: k, definition: k.Definition, open: !settled(k.Definition)}, nil
}

// every selects all definitions except unreadable ones.
var every = watchcache.Selection{Readable: true}

// readable returns the readable definitions of the snapshot.
func readable(snap *watchcache.Snapshot) iter.Seq[*watchcache.Object] {
	list, _ := snap.List(every, "", 0) // fails only for unreadable objects
	return list
}

// settle computes the statuses, oldest definition first, and returns those to be written. The kinds already have
// them.
func (x *Extensions) settle() map[string]*apiextensionsv1.CustomResourceDefinitionStatus {
	wanted := map[string]*apiextensionsv1.CustomResourceDefinitionStatus{}
	open := false
	for _, s := range x.mu.served {
		open = open || s.open
	}
	if !open { // usually
		return nil
	}
	all := slices.SortedFunc(maps.Values(x.mu.served), func(a, b *served) int {
		s, t := a.definition.CreationTimestamp, b.definition.CreationTimestamp
		return cmp.Or(s.Compare(t.Time), strings.Compare(a.definition.Name, b.definition.Name))
	})
	names := claim(all)
	for _, s := range all {
		d := s.definition
		if !s.open {
			continue
		}
		after := d.DeepCopy()
		names.settle(after)
		approve(after)
		if equality.Semantic.DeepEqual(d.Status, after.Status) {
			continue
		}
		names.replace(d, after)
		wanted[d.Name] = &after.Status
		s.definition, s.open = after, !settled(after)
		if s.kind.Definition == d { // not served yet
			s.kind.Definition.Status = after.Status
			s.rows = nil
			continue
		}
		if k := s.kind.WithStatus(after.Status); !s.kind.Same(k) {
			s.kind, s.rows = k, nil
		}
	}
	return wanted
}

// serve replaces the served set.
func (x *Extensions) serve() {
	rows := slices.Clone(x.o.Builtin)
	for _, name := range slices.Sorted(maps.Keys(x.mu.served)) {
		s := x.mu.served[name]
		if s.rows == nil {
			s.rows = s.kind.Resources()
		}
		for _, r := range s.rows {
			if !x.builtin[r.GVR(r.Versions[0].Name)] {
				rows = append(rows, r)
			}
		}
	}
	x.o.Server.Set(rows, x.o.Describes...)
}

// writeStatus writes a computed status. If the definition has changed since, the write is skipped: its status will be
// computed again.
func (x *Extensions) writeStatus(ctx context.Context, name string, status *apiextensionsv1.CustomResourceDefinitionStatus) error {
	from := x.mu.served[name].from
	err := x.o.Server.Amend(ctx, Definitions, name, "status", func(obj resource.Object) bool {
		if obj.GetResourceVersion() != storage.Revision(from).String() {
			return false
		}
		obj.(*apiextensionsv1.CustomResourceDefinition).Status = *status
		return true
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
