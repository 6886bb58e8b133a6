package watchcache

import (
	"fairlead.dev/internal/watchcache/change"
	"fairlead.dev/internal/watchcache/object"
)

// A lapse is a time during which a key's value is unreadable.
type lapse struct {
	object *Object
	// last is the state before it, nil if it is unknown.
	last *Object
}

// lapses are the lapses of a resource by the keys of their objects; nil if there are none.
type lapses map[string]lapse

// lapsesOf returns the lapses of unreadable objects whose states before are unknown.
func lapsesOf(unreadable []*Object) (l lapses) {
	for _, o := range unreadable {
		l.begin(o, nil)
	}
	return l
}

func (l *lapses) begin(o, last *Object) {
	if *l == nil {
		*l = lapses{}
	}
	(*l)[o.Key()] = lapse{o, last}
}

// note follows a change, and completes it: a state that follows an unreadable one has the state
// before the lapse in LastReadable. It reports whether the new state is unreadable.
func (l *lapses) note(ch *change.Change) bool {
	switch {
	case ch.Old != nil && !object.Readable(ch.Old):
		key := ch.Old.Key()
		ch.LastReadable = (*l)[key].last
		delete(*l, key)
		if ch.New == nil || object.Readable(ch.New) {
			return false
		}
		l.begin(ch.New, ch.LastReadable)
	case ch.New != nil && !object.Readable(ch.New):
		l.begin(ch.New, ch.Old)
	default:
		return false
	}
	return true
}

// objects returns the unreadable objects in the order of their keys.
func (l lapses) objects() []*Object {
	if len(l) == 0 {
		return nil
	}
	objects := make([]*Object, 0, len(l))
	for _, lapse := range l {
		objects = append(objects, lapse.object)
	}
	object.SortByKey(objects)
	return objects
}
