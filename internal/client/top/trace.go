package top

import tea "charm.land/bubbletea/v2"

// maxEvents is how many events are kept.
const maxEvents = 2000

// trace is the followed part of the trace.
type trace struct {
	id     int
	events []event // the oldest first
	rates  rates
	err    error // there is no trace
	opened bool
}

// traced takes a part of the trace.
func (m *Model) traced(b batch[traced]) tea.Cmd {
	if b.id != m.trace.id {
		return nil
	}
	t := &m.trace
	for _, part := range b.items {
		refusal, ok := m.heard(part.err)
		if t.err = refusal; !ok {
			continue
		}
		if part.began {
			t.events, t.rates, t.opened = t.events[:0], rates{}, true
		}
		for _, e := range part.events {
			t.rates.add(e)
		}
		t.events = append(t.events, part.events...)
	}
	if extra := len(t.events) - maxEvents; extra > 0 {
		t.events = append(t.events[:0], t.events[extra:]...)
	}
	return b.next
}

// changes reports whether a part of the trace has an event that may change an answer.
func changes(b batch[traced]) bool {
	for _, part := range b.items {
		if part.began {
			return true
		}
		for i := range part.events {
			if !part.events[i].heartbeat() {
				return true
			}
		}
	}
	return false
}
