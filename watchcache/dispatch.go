package watchcache

import (
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/storage"

	"k8s.io/apimachinery/pkg/watch"
)

// An Event is one change as a selection sees it.
type Event struct {
	// Type is watch.Added, watch.Modified or watch.Deleted.
	Type watch.EventType
	// Object is the new state; for watch.Deleted the last state that was in the selection.
	Object *Object
	// Revision is the change's place in the log. It is the object's own unless Type is
	// watch.Deleted.
	Revision storage.Revision
}

// AppendObject appends the object with the event's revision as its resourceVersion.
func (e Event) AppendObject(dst []byte) []byte { return e.Object.AppendJSONAt(dst, e.Revision) }

// Encoding is like Object.Encoding, for bytes that contain the event's type and revision, such as a
// watch frame.
func (e Event) Encoding(id Encoding, build func(Event) ([]byte, error)) ([]byte, error) {
	return object.EncodeEvent(e.Object, id, e.Type, func() ([]byte, error) { return build(e) })
}

// eventOf returns the event by which a selection sees a change; was and is report whether the
// selection holds the old and the new state.
func eventOf(ch *change, was, is bool) (Event, bool) {
	switch {
	case was && is:
		return Event{watch.Modified, ch.new, ch.rev}, true
	case is:
		return Event{watch.Added, ch.new, ch.rev}, true
	case was:
		return Event{watch.Deleted, ch.old, ch.rev}, true
	}
	return Event{}, false
}

// dispatch appends a change to the topics that it concerns: one look-up for each kind of base that
// has watchers, however many topics there are.
func (c *Cache) dispatch(ch *change) {
	for _, tb := range c.mu.tables {
		switch tb.kind {
		case selection.ByNothing:
			c.appendToTopics(tb, "", ch, true, true)
		case selection.ByNamespace:
			c.appendToTopics(tb, ch.either().Namespace(), ch, true, true)
		case selection.ByKey:
			c.appendToTopics(tb, ch.either().Key(), ch, true, true)
		case selection.ByValue:
			c.dispatchValue(tb, ch)
		}
	}
}

func (c *Cache) dispatchValue(tb *topicTable, ch *change) {
	var was, is string
	var hadOld, hasNew bool
	if ch.old != nil {
		was, hadOld = tb.dim.Value(ch.old)
	}
	if ch.new != nil {
		is, hasNew = tb.dim.Value(ch.new)
	}
	same := hadOld && hasNew && was == is
	if hadOld {
		c.appendToTopics(tb, was, ch, true, same)
	}
	if hasNew && !same {
		c.appendToTopics(tb, is, ch, false, true)
	}
}

// appendToTopics appends the change to the topics of one base whose filters it concerns. baseWas
// and baseIs report whether the base holds for the old and new state.
func (c *Cache) appendToTopics(tb *topicTable, value string, ch *change, baseWas, baseIs bool) {
	for t := tb.at(value); t != nil; t = t.next {
		if t.value != value {
			continue
		}
		was := baseWas && ch.old != nil && t.filter.Match(ch.old)
		is := false
		switch {
		case !baseIs || ch.new == nil:
		case baseWas && ch.old != nil && (t.filter == nil || ch.sameAttributes()):
			is = was
		default:
			is = t.filter.Match(ch.new)
		}
		ev, ok := eventOf(ch, was, is)
		if !ok {
			continue
		}
		ch.topics++
		t.log.Append(ev)
		c.mu.refs.Append(topicRef{c.mu.ring.End(), t})
		c.hub.queue(t)
	}
}
