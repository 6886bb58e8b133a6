package history

import (
	"strings"
	"time"
)

// Origin is the last change of a field. State is nil if that was before the kept history; then Owner
// is the field's manager, if it has one.
type Origin struct {
	State *State
	Owner Owner
}

// Blame finds the last change of each field of an object: Add its states, the newest first, until
// one call returns false.
type Blame struct {
	// Object is the newest state.
	Object  map[string]any
	origins map[string]Origin
	waiting map[string]FieldPath
	newer   *State
	object  map[string]any // of newer
}

// Add adds the next older state with its decoded object. It returns false when the last change of
// each field is known.
func (b *Blame) Add(s *State, object map[string]any) bool {
	if b.newer == nil {
		b.Object, b.origins, b.waiting = object, map[string]Origin{}, map[string]FieldPath{}
		for _, c := range Changes(nil, object) {
			b.waiting[c.Path.String()] = c.Path
		}
	} else if s.Type == Deleted || object == nil || s.UID != b.newer.UID {
		b.settle(b.newer, nil)
	} else {
		for _, c := range Changes(object, b.object) {
			b.settle(b.newer, c.Path)
		}
	}
	if b.newer, b.object = s, object; s.Type == Added {
		b.settle(s, nil)
	}
	return len(b.waiting) > 0
}

// settle makes a state the origin of the waiting fields at and below a path.
func (b *Blame) settle(s *State, p FieldPath) {
	at := p.String()
	for name := range b.waiting {
		rest, below := strings.CutPrefix(name, at)
		if below && (at == "" || rest == "" || rest[0] == '.' || rest[0] == '[') {
			b.origins[name] = Origin{State: s}
			delete(b.waiting, name)
		}
	}
}

// Of returns the origin of a field; ok is false for one that has fields below it.
func (b *Blame) Of(p FieldPath) (_ Origin, ok bool) {
	at := p.String()
	if o, ok := b.origins[at]; ok {
		return o, true
	}
	if p, ok := b.waiting[at]; ok {
		return Origin{Owner: b.owner(p)}, true
	}
	return Origin{}, false
}

// Fields returns the fields that have an origin, in order.
func (b *Blame) Fields() (all []FieldPath) {
	for _, c := range Changes(nil, b.Object) {
		all = append(all, c.Path)
	}
	return all
}

// owner returns the manager of a field whose last change is not kept: the one that wrote last.
func (b *Blame) owner(p FieldPath) (last Owner) {
	for _, o := range Owners(b.Object, p) {
		if last.Manager == "" || o.Time.After(last.Time) {
			last = o
		}
	}
	return last
}

// Time returns when the change was, zero if that is unknown.
func (o Origin) Time() time.Time {
	if o.State != nil {
		return o.State.Time
	}
	return o.Owner.Time
}
