package selection

import "fairlead.dev/internal/watchcache/object"

// A Matcher is a compiled selection.
type Matcher struct {
	Base   Base
	Filter *Filter
	// Ends, if not nil, is called after every checkInterval objects and ends the walk by true; left
	// counts down to the next call.
	Ends func() bool
	left int
	// Stopped: Ends has returned true.
	Stopped bool
}

// checkInterval is the number of objects between two calls of Ends.
const checkInterval = 256

// GoesOn reports whether the walk may look at one more object.
func (m *Matcher) GoesOn() bool {
	if m.Ends == nil {
		return true
	}
	if m.left--; m.left < 0 {
		m.left = checkInterval
		m.Stopped = m.Stopped || m.Ends()
	}
	return !m.Stopped
}

// Match reports whether the object, which may be nil, is in the selection.
func (m *Matcher) Match(o *object.Object) bool {
	if o == nil || !object.Readable(o) {
		return false
	}
	switch m.Base.Kind {
	case ByNamespace:
		if o.Namespace() != m.Base.Value {
			return false
		}
	case ByKey:
		if o.Key() != m.Base.Value {
			return false
		}
	case ByValue:
		if value, ok := m.Base.Dim.Value(o); !ok || value != m.Base.Value {
			return false
		}
	}
	return m.Filter.Match(o)
}

// Covers reports whether the object lies in the selection's range: whether, judged by its key
// alone, it might be in the selection.
func (m *Matcher) Covers(o *object.Object) bool {
	switch m.Base.Kind {
	case ByKey:
		if m.Base.Value != o.Key() {
			return false
		}
	case ByNamespace:
		if m.Base.Value != o.Namespace() {
			return false
		}
	}
	f := m.Filter
	return f == nil || !f.nothing && !f.readable &&
		(f.namespace == "" || f.namespace == o.Namespace()) && (f.name == "" || f.name == o.Name())
}
