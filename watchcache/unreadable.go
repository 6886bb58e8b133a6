package watchcache

import (
	"fmt"
	"strings"

	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/storage"
)

// An object whose stored value is unreadable still has a key and a revision, and other objects
// depend on it. So it stands in the tree like any other, and every read and watch whose range holds
// it fails until it is readable again or deleted. Only a selection with [Selection.Readable] skips
// it.
//
// Watchers get an error, never a deletion. They watch again from the same revision, which fails for
// as long as the value is unreadable. Afterwards they see one change from the last readable state
// to the next one.

// An UnreadableError is the error of a read or watch whose range holds objects with unreadable
// values.
type UnreadableError struct {
	// Group and Resource are the cache's.
	Group, Resource string
	// Range separates a list or a watch from the read of one object.
	Range bool
	// Objects are in the order of their keys; there is at least one.
	Objects []Unreadable
}

// An Unreadable is an object whose stored value is unreadable.
type Unreadable struct {
	Key      string
	Revision storage.Revision
	Err      error
}

func (e *UnreadableError) Error() string {
	first := e.Objects[0]
	text := fmt.Sprintf("%s at revision %d cannot be read: %v", first.Key, first.Revision, first.Err)
	if n := len(e.Objects) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

// Unwrap returns the error of the first object.
func (e *UnreadableError) Unwrap() error { return e.Objects[0].Err }

// maxUnreadable bounds the objects that one error names.
const maxUnreadable = 100

func (c *Cache) unreadableError(objects []*Object) *UnreadableError {
	e := &UnreadableError{Group: c.opts.Group, Resource: c.opts.Resource, Range: true}
	for _, o := range objects[:min(len(objects), maxUnreadable+1)] {
		e.Objects = append(e.Objects, Unreadable{o.Key(), o.Revision(), object.ReadError(o)})
	}
	return e
}

// Check returns the error with which a cache with these options would fail to read a stored key;
// nil if it could read it.
func Check(kv *storage.KeyValue, o Options) error {
	_, err := object.New(kv, o.kind(nil))
	return err
}

// object returns the object of a stored key, readable or not.
func (c *Cache) object(kv *storage.KeyValue) *Object {
	o, err := object.New(kv, c.kind)
	if err != nil {
		c.decodeErrors.Add(1)
		o = object.NewUnreadable(kv, c.kind)
	}
	return o
}

// A lapse is a time during which a key's value is unreadable.
type lapse struct {
	object *Object
	// last is the state before it, nil if it is unknown.
	last *Object
}

// noteLapse updates Cache.mu.lapses and completes the change: a readable state that follows an
// unreadable one has the state before the lapse in lastReadable. It ends the watchers of ranges in
// which a lapse begins.
func (c *Cache) noteLapse(ch *change) {
	switch {
	case ch.old != nil && !object.Readable(ch.old):
		key := ch.old.Key()
		l := c.mu.lapses[key]
		ch.lastReadable = l.last
		delete(c.mu.lapses, key)
		if ch.new == nil || object.Readable(ch.new) {
			return
		}
		c.lapses()[key] = lapse{ch.new, l.last}
	case ch.new != nil && !object.Readable(ch.new):
		c.lapses()[ch.new.Key()] = lapse{ch.new, ch.old}
	default:
		return
	}
	err := c.unreadableError([]*Object{ch.new})
	if ch.old == nil || object.Readable(ch.old) { // otherwise it is in the log already
		c.hub.opts.Log.Error("stored object cannot be read", "resource", c.name, "key", ch.new.Key(), "revision", ch.new.Revision(), "error", err.Objects[0].Err)
	}
	c.endCovering(ch.new, err)
}

func (c *Cache) lapses() map[string]lapse {
	if c.mu.lapses == nil {
		c.mu.lapses = map[string]lapse{}
	}
	return c.mu.lapses
}

// endCovering ends the watchers in whose range the object lies. It also removes their topics, so
// that no change of the object is logged while it is unreadable.
func (c *Cache) endCovering(o *Object, err error) {
	var concerned []*topic
	for _, tb := range c.mu.tables {
		for _, t := range tb.topics {
			for ; t != nil; t = t.next {
				m := selection.Matcher{Base: selection.Base{Kind: tb.kind, Dim: tb.dim, Value: t.value}, Filter: t.filter}
				if m.Covers(o) {
					concerned = append(concerned, t)
				}
			}
		}
	}
	for _, t := range concerned {
		c.remove(t)
		c.end(t, err)
	}
}

// unreadableIn returns the error for a selection whose range holds some of the objects.
func (c *Cache) unreadableIn(m *selection.Matcher, objects []*Object, after string) error {
	var found []*Object
	for _, o := range objects {
		if o.Key() > after && m.Covers(o) {
			found = append(found, o)
		}
	}
	if found == nil {
		return nil
	}
	return c.unreadableError(found)
}

// unreadable returns the unreadable objects of the tree, in the order of their keys.
func (c *Cache) unreadable() []*Object {
	if len(c.mu.lapses) == 0 {
		return nil
	}
	objects := make([]*Object, 0, len(c.mu.lapses))
	for _, l := range c.mu.lapses {
		objects = append(objects, l.object)
	}
	object.SortByKey(objects)
	return objects
}

// Unreadable reports whether the object exists and its value is unreadable.
func (s *Snapshot) Unreadable(namespace, name string) bool {
	o, ok := s.tree.Get(s.cache.Key(namespace, name))
	return ok && !object.Readable(o)
}

// lapsesOf returns the lapses of the unreadable objects among those loaded, and logs them in one
// line for each resource.
func (c *Cache) lapsesOf(unreadable []*Object) map[string]lapse {
	if len(unreadable) == 0 {
		return nil
	}
	lapses, names := make(map[string]lapse, len(unreadable)), []string{}
	for _, o := range unreadable {
		lapses[o.Key()] = lapse{object: o}
		if len(names) < maxNamed {
			names = append(names, o.Key())
		}
	}
	c.hub.opts.Log.Error("stored objects cannot be read", "resource", c.name, "count", len(unreadable), "keys", strings.Join(names, " "), "error", object.ReadError(unreadable[0]))
	return lapses
}

// maxNamed bounds the keys in one line of the log.
const maxNamed = 20
