package topic

import (
	"fairlead.dev/internal/watchcache/change"
	"fairlead.dev/internal/watchcache/selection"
)

// Append logs a change in the topics that it concerns, with one look-up for each kind of base that
// has readers, however many topics there are. number is the change's in the history.
func (s *Set) Append(ch *change.Change, number uint64) {
	for _, tb := range s.tables {
		switch tb.kind {
		case selection.ByNothing:
			s.appendToBase(tb, "", ch, number, true, true)
		case selection.ByNamespace:
			s.appendToBase(tb, ch.Object().Namespace(), ch, number, true, true)
		case selection.ByKey:
			s.appendToBase(tb, ch.Object().Key(), ch, number, true, true)
		case selection.ByValue:
			s.appendByValue(tb, ch, number)
		}
	}
}

func (s *Set) appendByValue(tb *table, ch *change.Change, number uint64) {
	var was, is string
	var hadOld, hasNew bool
	if ch.Old != nil {
		was, hadOld = tb.dim.Value(ch.Old)
	}
	if ch.New != nil {
		is, hasNew = tb.dim.Value(ch.New)
	}
	same := hadOld && hasNew && was == is
	if hadOld {
		s.appendToBase(tb, was, ch, number, true, same)
	}
	if hasNew && !same {
		s.appendToBase(tb, is, ch, number, false, true)
	}
}

// appendToBase logs the change in the topics of one base whose filters it concerns. baseWas and
// baseIs report whether the base holds for the old and new state.
func (s *Set) appendToBase(tb *table, value string, ch *change.Change, number uint64, baseWas, baseIs bool) {
	for t := tb.at(value); t != nil; t = t.next {
		if t.value != value {
			continue
		}
		was := baseWas && ch.Old != nil && t.filter.Match(ch.Old)
		is := false
		switch {
		case !baseIs || ch.New == nil:
		case baseWas && ch.Old != nil && (t.filter == nil || ch.SameAttributes()):
			is = was
		default:
			is = t.filter.Match(ch.New)
		}
		ev, ok := ch.Event(was, is)
		if !ok {
			continue
		}
		ch.Topics++
		t.log.Append(ev)
		s.logged.Append(entry{number, t})
		s.queue.add(t)
	}
}
