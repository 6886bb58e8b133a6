package change

import (
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"
)

// A Change is one change of one object. For a creation Old is nil, for a deletion New.
type Change struct {
	Revision storage.Revision
	Old, New *object.Object
	// LastReadable is the last readable state if Old is unreadable; nil if it is unknown.
	LastReadable *object.Object
	// At is the time at which the cache applied the change, in Unix nanoseconds.
	At int64

	// compared and same cache the result of SameAttributes.
	compared, same bool
	// Topics counts the topics that the change was logged in.
	Topics int32
}

// SameAttributes reports whether both states look the same to every filter. After a write of a
// status they usually do.
func (ch *Change) SameAttributes() bool {
	if !ch.compared {
		ch.compared = true
		if ch.Old != nil && ch.New != nil && object.Readable(ch.Old) == object.Readable(ch.New) {
			ch.same = object.SameAttributes(ch.Old, ch.New)
		}
	}
	return ch.same
}

// Object returns the new state or, after a deletion, the old one.
func (ch *Change) Object() *object.Object {
	if ch.New != nil {
		return ch.New
	}
	return ch.Old
}

// Size is the memory that the change keeps alive: the replaced state. The new state is among the
// current objects.
func (ch *Change) Size() int {
	const overhead = 128
	if ch.Old == nil {
		return overhead
	}
	return overhead + object.StoredSize(ch.Old)
}
