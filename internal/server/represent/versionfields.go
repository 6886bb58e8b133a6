package represent

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// VersionFields is the part of a field selector about the selectable fields of a custom kind
// with several versions (KEP-4358). Such a field is one of the requested version, and the
// watch cache indexes the stored one. So it is read from each object, converted, that the rest
// of the selector selects.
type VersionFields struct {
	reqs  fields.Requirements
	paths map[string][]string // by label
}

// SplitFields splits a selector into the part that the watch cache evaluates and
// VersionFields. Either is nil if it is empty.
func SplitFields(ep *endpoint.Endpoint, s fields.Selector) (rest fields.Selector, _ *VersionFields) {
	if ep.VersionedFields == nil {
		return s, nil
	}
	p := &VersionFields{paths: ep.VersionedFields}
	var others []fields.Selector
	for _, r := range s.Requirements() {
		switch {
		case p.paths[r.Field] != nil:
			p.reqs = append(p.reqs, r)
		case r.Operator == selection.NotEquals:
			others = append(others, fields.OneTermNotEqualSelector(r.Field, r.Value))
		default:
			others = append(others, fields.OneTermEqualSelector(r.Field, r.Value))
		}
	}
	switch {
	case len(p.reqs) == 0:
		return s, nil
	case len(others) == 0:
		return nil, p
	}
	return fields.AndSelectors(others...), p
}

// matches reports whether the fields of an object in the representation's version match. Nil
// matches every object.
func (p *VersionFields) matches(f *Representation, o *watchcache.Object) (bool, error) {
	if p == nil {
		return true, nil
	}
	text, err := f.shown(o)
	if err != nil {
		return false, err
	}
	u, err := endpoint.DecodeUntyped(text)
	if err != nil {
		return false, err
	}
	for _, r := range p.reqs {
		value, ok, err := unstructured.NestedFieldNoCopy(u.Object, p.paths[r.Field]...)
		if err != nil || !ok || value == nil {
			value = ""
		}
		if (fmt.Sprint(value) == r.Value) == (r.Operator == selection.NotEquals) {
			return false, nil
		}
	}
	return true, nil
}

// shown returns a custom object in the representation's version, without managed fields if it
// is stored in that version.
func (f *Representation) shown(o *watchcache.Object) ([]byte, error) {
	switch text := f.Preconverted[o]; {
	case text != nil:
		return text, nil
	case f.Endpoint.Raw && f.Endpoint.Current(o):
		text, _ = managed.Cut(o.Value())
		return text, nil
	}
	return endpoint.FormOf(f.Context, o, f.Endpoint.TextForm, func(o *watchcache.Object) ([]byte, error) {
		obj, err := f.Endpoint.Decode(f.Context, o.Value(), o.Revision())
		if err != nil {
			return nil, err
		}
		return serializer.Marshal(obj, serializer.JSON)
	})
}

// Select returns the selected objects whose fields match, after a key, at most limit if that
// is above 0. more reports whether there is another one.
func (f *Representation) Select(ctx context.Context, p *VersionFields, snap *watchcache.Snapshot, sel watchcache.Selection, after string, limit int) (objects []*watchcache.Object, more bool, err error) {
	walk, err := snap.Walk(sel, after)
	if err != nil {
		return nil, false, err
	}
	texts := map[*watchcache.Object][]byte{}
	defer func() {
		if f.Endpoint.AsksWebhook {
			f.Preconverted = texts
		}
	}()
	batch := make([]*watchcache.Object, 0, maxPreconvert)
	for {
		batch = batch[:0]
		for o := range walk.Rest() {
			if batch = append(batch, o); len(batch) == maxPreconvert {
				break
			}
		}
		if len(batch) == 0 {
			return objects, false, nil
		}
		if err := f.Preconvert(ctx, batch); err != nil {
			return nil, false, err
		}
		for _, o := range batch {
			ok, err := p.matches(f, o)
			switch {
			case err != nil:
				return nil, false, err
			case !ok:
				continue
			case limit > 0 && len(objects) == limit:
				return objects, true, nil
			}
			objects = append(objects, o)
			if text := f.Preconverted[o]; text != nil {
				texts[o] = text
			}
		}
	}
}

// Selected tracks the objects that a watch with VersionFields has shown.
type Selected struct {
	VersionFields *VersionFields
	// Objects has the objects that match, by key, as they were shown last.
	Objects map[string]*watchcache.Object
}

// NewSelected returns the objects that match at the start of a watch: in the snapshot or, if
// that is nil, at the revision.
func NewSelected(ctx context.Context, f *Representation, p *VersionFields, snap *watchcache.Snapshot, after storage.Revision, sel watchcache.Selection) (_ *Selected, err error) {
	if snap == nil {
		if snap, err = f.Endpoint.Cache.Snapshot(ctx, watchcache.ReadAt{Match: watchcache.Exact, Revision: after}); err != nil {
			return nil, err
		}
	}
	objects, _, err := f.Select(ctx, p, snap, sel, "", 0)
	f.Preconverted = nil // they are kept as the objects' form
	in := make(map[string]*watchcache.Object, len(objects))
	for _, o := range objects {
		in[o.Key()] = o
	}
	return &Selected{p, in}, err
}

// Event translates an event of the rest of the selector; ok is false if the watch does not
// show it.
func (p *Selected) Event(f *Representation, e watchcache.Event) (_ watchcache.Event, ok bool, err error) {
	key := e.Object.Key()
	was := p.Objects[key]
	now := false
	if e.Type != watch.Deleted {
		if now, err = p.VersionFields.matches(f, e.Object); err != nil {
			return e, false, err
		}
	}
	switch {
	case now:
		p.Objects[key] = e.Object
		e.Type = watch.Modified
		if was == nil {
			e.Type = watch.Added
		}
		return e, true, nil
	case was != nil:
		delete(p.Objects, key)
		return watchcache.Event{Type: watch.Deleted, Object: was, Revision: e.Revision}, true, nil
	}
	return e, false, nil
}
