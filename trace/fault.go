package trace

import "time"

// InjectedFault records the effect of an injected fault on an event or a request.
type InjectedFault struct {
	// Fault is the fault's number, Action its kind, What a description of its effect.
	Fault  uint64    `json:"fault"`
	Action string    `json:"action"`
	What   string    `json:"what"`
	At     time.Time `json:"at"`
	// Revision is the affected event, 0 if no event was affected, or it is no longer known.
	Revision int64 `json:"revision,omitempty"`
	// Stream is the watch, nil for other requests; the other fields describe the request.
	Stream      *Stream `json:"stream,omitempty"`
	Verb        string  `json:"verb,omitempty"`
	Subresource string  `json:"subresource,omitempty"`
	Resource    string  `json:"resource,omitempty"`
	Namespace   string  `json:"namespace,omitempty"`
	Name        string  `json:"name,omitempty"`
	User        string  `json:"user,omitempty"`
	Agent       string  `json:"agent,omitempty"`
	// Causes are the events that the request was made because of.
	Causes []int64 `json:"causes,omitempty"`
}

// FaultInjected records an injected fault.
func (l *Log) FaultInjected(s InjectedFault) {
	if l == nil {
		return
	}
	if s.At.IsZero() {
		s.At = time.Now()
	}
	l.faults.put(s)
	l.bell.ring()
}

// InjectedFaults are the selected faults without an event: failed writes and cut watches.
// after is the number that the last call returned, to skip the faults before it.
func (l *Log) InjectedFaults(f Filter, after uint64) (_ []InjectedFault, last uint64) {
	if l == nil {
		return nil, 0
	}
	return l.faults.since(after, func(s *InjectedFault) bool {
		resource, namespace := s.Resource, s.Namespace
		if s.Stream != nil {
			resource, namespace = s.Stream.Resource, s.Stream.Namespace
		}
		return s.Revision == 0 && f.From == 0 && f.To == 0 && f.Slow == 0 && !s.At.Before(f.Since) &&
			(f.Resource == "" || f.Resource == resource) && (f.Namespace == "" || namespace == "" || f.Namespace == namespace) &&
			(f.Name == "" || s.Name == "" || f.Name == s.Name)
	})
}

// since returns the entries from a number on for which pass returns true, and the number
// after the last entry.
func (r *ring[T]) since(first uint64, pass func(*T) bool) (found []T, end uint64) {
	r.Lock()
	defer r.Unlock()
	if r.end > r.room() {
		first = max(first, r.end-r.room())
	}
	for n := first; n < r.end; n++ {
		if v := r.at(n); pass(v) {
			found = append(found, *v)
		}
	}
	return found, r.end
}
