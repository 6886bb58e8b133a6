package server

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// pick is the part of a field selector that is about the selectable fields of a custom
// kind with several versions (KEP-4358). Such a field is one of the version asked for,
// while the watch cache knows the stored one's; so it is read from each object as the
// client would be shown it, of those that the rest of the selection leaves.
type pick struct {
	reqs  fields.Requirements
	paths map[string][]string // by label
}

// pickOf takes from a selector what is a pick, nil if nothing is. The rest is nil if
// that is all.
func pickOf(ep *endpoint.Endpoint, s fields.Selector) (rest fields.Selector, _ *pick) {
	if ep.VersionedFields == nil {
		return s, nil
	}
	p := &pick{paths: ep.VersionedFields}
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

// takes reports whether the pick, nil for every object, takes an object of the form's
// version.
func (p *pick) takes(f *form, o *watchcache.Object) (bool, error) {
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

// shown is a custom object in the form's version, without its record of owners if it is
// stored so.
func (f *form) shown(o *watchcache.Object) ([]byte, error) {
	switch text := f.texts[o]; {
	case text != nil:
		return text, nil
	case f.ep.Raw && f.ep.Current(o):
		text, _ = managed.Cut(o.Value())
		return text, nil
	}
	return endpoint.FormOf(f.ctx, o, f.ep.TextForm, func(o *watchcache.Object) ([]byte, error) {
		obj, err := f.ep.Decode(f.ctx, o.Value(), o.Revision())
		if err != nil {
			return nil, err
		}
		return codec.Marshal(obj, codec.JSON)
	})
}

// picked are the objects of a selection that the pick takes, after a key, at most limit
// if that is above 0; more says that there is another one.
func (c *call) picked(f *form, p *pick, snap *watchcache.Snapshot, sel watchcache.Selection, after string, limit int) (objects []*watchcache.Object, more bool, err error) {
	walk, err := snap.Walk(sel, after)
	if err != nil {
		return nil, false, err
	}
	texts := map[*watchcache.Object][]byte{}
	defer func() {
		if c.ep.AsksWebhook {
			f.texts = texts
		}
	}()
	batch := make([]*watchcache.Object, 0, mostAtOnce)
	for {
		batch = batch[:0]
		for o := range walk.Rest() {
			if batch = append(batch, o); len(batch) == mostAtOnce {
				break
			}
		}
		if len(batch) == 0 {
			return objects, false, nil
		}
		if err := c.convertAhead(f, batch); err != nil {
			return nil, false, err
		}
		for _, o := range batch {
			ok, err := p.takes(f, o)
			switch {
			case err != nil:
				return nil, false, err
			case !ok:
				continue
			case limit > 0 && len(objects) == limit:
				return objects, true, nil
			}
			objects = append(objects, o)
			if text := f.texts[o]; text != nil {
				texts[o] = text
			}
		}
	}
}

// picking is what a watch has shown of the objects that its pick takes.
type picking struct {
	pick *pick
	// in are the objects that it takes, by key, as they were shown last.
	in map[string]*watchcache.Object
}

// pickingAt is how a watch begins: at a snapshot, or behind the revision.
func (c *call) pickingAt(f *form, p *pick, snap *watchcache.Snapshot, after storage.Revision, sel watchcache.Selection) (_ *picking, err error) {
	if snap == nil {
		if snap, err = c.ep.Cache.Snapshot(c.ctx, watchcache.ReadAt{Match: watchcache.Exact, Revision: after}); err != nil {
			return nil, err
		}
	}
	objects, _, err := c.picked(f, p, snap, sel, "", 0)
	f.texts = nil // they are kept as the objects' form
	in := make(map[string]*watchcache.Object, len(objects))
	for _, o := range objects {
		in[o.Key()] = o
	}
	return &picking{p, in}, err
}

// event is what a client sees of an event of the rest of its selection; ok is false if
// that is nothing.
func (p *picking) event(f *form, e watchcache.Event) (_ watchcache.Event, ok bool, err error) {
	key := e.Object.Key()
	was := p.in[key]
	now := false
	if e.Type != watch.Deleted {
		if now, err = p.pick.takes(f, e.Object); err != nil {
			return e, false, err
		}
	}
	switch {
	case now:
		p.in[key] = e.Object
		e.Type = watch.Modified
		if was == nil {
			e.Type = watch.Added
		}
		return e, true, nil
	case was != nil:
		delete(p.in, key)
		return watchcache.Event{Type: watch.Deleted, Object: was, Revision: e.Revision}, true, nil
	}
	return e, false, nil
}
