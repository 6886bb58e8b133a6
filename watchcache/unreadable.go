package watchcache

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/storage"
)

// A stored value that cannot be read is an object nevertheless: it has a key and a
// revision, and others depend on it. So it stands in the tree like any other, and every
// read and watch whose range holds it fails until it is readable again or deleted. Only
// a selection that asks for what can be read, [Selection.Readable], goes on without it.
//
// Watchers are told by an error, never by a deletion. They watch again from where they
// were, which fails for as long as the value cannot be read. When it can, they see one
// change from the last state that could be read to the next one.

// UnreadableError is what those get who read a range that holds objects whose stored
// values cannot be read.
type UnreadableError struct {
	// Group and Resource are the cache's.
	Group, Resource string
	// Range tells a list or a watch from the read of one object.
	Range bool
	// Objects are in the order of their keys, never none.
	Objects []Unreadable
}

// Unreadable is an object whose stored value cannot be read.
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

// Unwrap gives access to what is wrong with the first of the objects.
func (e *UnreadableError) Unwrap() error { return e.Objects[0].Err }

// maxUnreadable bounds the objects that one error names.
const maxUnreadable = 100

func (c *Cache) unreadableError(objects []*Object) *UnreadableError {
	e := &UnreadableError{Group: c.opts.Group, Resource: c.opts.Resource, Range: true}
	for _, o := range objects[:min(len(objects), maxUnreadable+1)] {
		e.Objects = append(e.Objects, Unreadable{o.Key(), o.Revision(), o.readError()})
	}
	return e
}

// readable reports whether the object's value can be read.
func (o *Object) readable() bool { return o.splice.kind != nowhere }

// readError tells why the value cannot be read.
func (o *Object) readError() error {
	_, err := NewObject(withValue(o.kv(), o.Value()), o.cache)
	return err
}

// Check tells why a cache with these options could not read a stored key, nil if it could.
func Check(kv *storage.KeyValue, o Options) error {
	_, err := NewObject(kv, &Cache{opts: o, typePrefix: []byte(o.TypePrefix)})
	return err
}

// object is the object of a stored key, readable or not.
func (c *Cache) object(kv *storage.KeyValue) *Object {
	o, err := NewObject(kv, c)
	if err != nil {
		c.decodeErrors.Add(1)
		o = &Object{cache: c, splice: splice{kind: nowhere}}
		o.body.Store(&body{kv: kv})
	}
	return o
}

// stored is the key with its value as JSON of the kind and version that the cache holds.
func (c *Cache) stored(kv *storage.KeyValue) (*storage.KeyValue, error) {
	if c.opts.Read != nil && !bytes.HasPrefix(kv.Value, c.typePrefix) {
		value, err := c.opts.Read(kv.Value)
		if err != nil {
			return nil, err
		}
		kv = withValue(kv, value)
	}
	if !sound(kv.Value) && !json.Valid(kv.Value) {
		return nil, errNotJSON
	}
	return kv, nil
}

// sound reports whether the text looks whole: it ends as an object does, and has as many
// braces that open as that close. JSON that does not look so is rare, a text that was cut
// short and does is too, and to look is twenty times as fast as to read.
func sound(b []byte) bool {
	b = bytes.TrimRight(b, " \n\t\r")
	return len(b) > 0 && b[len(b)-1] == '}' && bytes.Count(b, opening) == bytes.Count(b, closing)
}

var opening, closing = []byte("{"), []byte("}")

// A lapse is a time in which a key's value cannot be read.
type lapse struct {
	object *Object
	// last is the state before, nil if nobody knows it.
	last *Object
}

// noteLapse keeps Cache.mu.lapses at what the tree holds, and completes the change: a
// readable state that follows an unreadable one has what was before the lapse in was.
// It ends the watchers of ranges in which the lapse begins.
func (c *Cache) noteLapse(ch *change) {
	switch {
	case ch.old != nil && !ch.old.readable():
		key := ch.old.Key()
		l := c.mu.lapses[key]
		ch.was = l.last
		delete(c.mu.lapses, key)
		if ch.new == nil || ch.new.readable() {
			return
		}
		c.lapses()[key] = lapse{ch.new, l.last}
	case ch.new != nil && !ch.new.readable():
		c.lapses()[ch.new.Key()] = lapse{ch.new, ch.old}
	default:
		return
	}
	err := c.unreadableError([]*Object{ch.new})
	if ch.old == nil || ch.old.readable() { // else it has been named already
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

// endCovering ends the watchers in whose range the object lies. No topic of them is left
// that a change of the object could concern while it cannot be read.
func (c *Cache) endCovering(o *Object, err error) {
	var concerned []*topic
	for _, tb := range c.mu.tables {
		for _, t := range tb.topics {
			for ; t != nil; t = t.next {
				m := matcher{base: base{tb.kind, tb.dim, t.value}, filter: t.filter}
				if m.covers(o) {
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

// covers reports whether the object lies in the selection's range: whether, from its key
// alone, it might be in the selection.
func (m *matcher) covers(o *Object) bool {
	switch m.base.kind {
	case byKey:
		if m.base.value != o.Key() {
			return false
		}
	case byNamespace:
		if m.base.value != o.Namespace() {
			return false
		}
	}
	f := m.filter
	return f == nil || !f.nothing && !f.readable &&
		(f.namespace == "" || f.namespace == o.Namespace()) && (f.name == "" || f.name == o.Name())
}

// unreadableIn is the error for a selection whose range holds some of the objects.
func (c *Cache) unreadableIn(m *matcher, objects []*Object, after string) error {
	var found []*Object
	for _, o := range objects {
		if o.Key() > after && m.covers(o) {
			found = append(found, o)
		}
	}
	if found == nil {
		return nil
	}
	return c.unreadableError(found)
}

// unreadable are the objects of the tree that cannot be read, in the order of their keys.
func (c *Cache) unreadable() []*Object {
	if len(c.mu.lapses) == 0 {
		return nil
	}
	objects := make([]*Object, 0, len(c.mu.lapses))
	for _, l := range c.mu.lapses {
		objects = append(objects, l.object)
	}
	byKeys(objects)
	return objects
}

func byKeys(objects []*Object) {
	slices.SortFunc(objects, func(a, b *Object) int { return strings.Compare(a.Key(), b.Key()) })
}

// Unreadable reports whether the object is there and its value cannot be read.
func (s *Snapshot) Unreadable(namespace, name string) bool {
	o, ok := s.tree.Get(s.cache.Key(namespace, name))
	return ok && !o.readable()
}

// lapsesOf are the objects among those loaded that cannot be read, which it names in the
// log: one line for each resource.
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
	c.hub.opts.Log.Error("stored objects cannot be read", "resource", c.name, "count", len(unreadable), "keys", strings.Join(names, " "), "error", unreadable[0].readError())
	return lapses
}

// maxNamed bounds the keys in one line of the log.
const maxNamed = 20
