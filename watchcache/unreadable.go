package watchcache

import (
	"fmt"
	"slices"

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
//
// A value that cannot be decrypted may become readable without a write. So a read that meets it tries
// again, without a lock, and if that succeeds, the cache is loaded again.

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

func (r *resource) unreadableError(objects []*Object) *UnreadableError {
	e := &UnreadableError{Group: r.opts.Group, Resource: r.opts.Resource, Range: true}
	for _, o := range objects[:min(len(objects), maxUnreadable+1)] {
		e.Objects = append(e.Objects, Unreadable{o.Key(), o.Revision(), object.ReadError(o)})
	}
	return e
}

// readable returns the object, which may be nil, unless its value is unreadable.
func (r *resource) readable(o *Object) (*Object, error) {
	if o != nil && !object.Readable(o) {
		e := r.unreadableError([]*Object{o})
		e.Range = false
		return nil, e
	}
	return o, nil
}

// rangeError returns the error of a selection whose range, after a key, holds some of the unreadable
// objects.
func (r *resource) rangeError(m *selection.Matcher, unreadable []*Object, after string) error {
	var found []*Object
	for _, o := range unreadable {
		if o.Key() > after && m.Covers(o) {
			found = append(found, o)
		}
	}
	if found == nil {
		return nil
	}
	return r.unreadableError(found)
}

// unreadable returns the present unreadable objects.
func (c *Cache) unreadable() []*Object {
	c.state.mu.RLock()
	defer c.state.mu.RUnlock()
	return c.state.mu.lapses.objects()
}

// reopen loads the cache again if one of the unreadable objects can be decrypted now, and reports whether it has. One
// caller at a time tries.
func (c *Cache) reopen(unreadable []*Object) bool {
	if c.resource.kind.Open == nil || len(unreadable) == 0 || !c.reopening.TryLock() {
		return false
	}
	defer c.reopening.Unlock()
	if !slices.ContainsFunc(unreadable[:min(len(unreadable), maxUnreadable)], object.CanReadNow) {
		return false
	}
	c.follower.Reload(c.resource.opts.Prefix, &c.state)
	return true
}
