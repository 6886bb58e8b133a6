package change

import (
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"

	"k8s.io/apimachinery/pkg/watch"
)

// An Event is one change as a selection sees it.
type Event struct {
	// Type is watch.Added, watch.Modified or watch.Deleted.
	Type watch.EventType
	// Object is the new state; for watch.Deleted the last state that was in the selection.
	Object *object.Object
	// Revision is the change's place in the log. It is the object's own unless Type is
	// watch.Deleted.
	Revision storage.Revision
}

// AppendObject appends the object with the event's revision as its resourceVersion.
func (e Event) AppendObject(dst []byte) []byte { return e.Object.AppendJSONAt(dst, e.Revision) }

// Encoding is like Object.Encoding, for bytes that contain the event's type and revision, such as a
// watch frame.
func (e Event) Encoding(id object.Encoding, build func(Event) ([]byte, error)) ([]byte, error) {
	return object.EncodeEvent(e.Object, id, e.Type, func() ([]byte, error) { return build(e) })
}

// Event returns the event by which a selection sees the change; was and is report whether the
// selection holds the old and the new state.
func (ch *Change) Event(was, is bool) (Event, bool) {
	switch {
	case was && is:
		return Event{watch.Modified, ch.New, ch.Revision}, true
	case is:
		return Event{watch.Added, ch.New, ch.Revision}, true
	case was:
		return Event{watch.Deleted, ch.Old, ch.Revision}, true
	}
	return Event{}, false
}
