package topic

import (
	"errors"
	"slices"

	"fairlead.dev/internal/watchcache/change"
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/internal/watchcache/seqlog"
	"fairlead.dev/storage"
)

// A Set holds the topics of one resource.
type Set struct {
	queue           *Queue
	tables          []*table
	topics, readers int
	// logged lists the topics in which each change of the history is logged, in the history's order.
	logged seqlog.Log[entry]
}

// An entry is a change, by its number in the history, in the log of a topic.
type entry struct {
	change uint64
	topic  *Topic
}

// NewSet returns an empty set. Its topics are queued in q when they have something new.
func NewSet(q *Queue) Set { return Set{queue: q} }

// Len returns the number of topics.
func (s *Set) Len() int { return s.topics }

// Readers returns the number of readers that have not left.
func (s *Set) Readers() int { return s.readers }

// Find returns the topic of a selection, nil if there is none.
func (s *Set) Find(m *selection.Matcher) *Topic {
	if tb := s.table(&m.Base); tb != nil {
		for t := tb.at(m.Base.Value); t != nil; t = t.next {
			if t.value == m.Base.Value && m.Filter.Equal(t.filter) {
				return t
			}
		}
	}
	return nil
}

// table finds the table of a base; nil if it does not exist.
func (s *Set) table(b *selection.Base) *table {
	for _, tb := range s.tables {
		if tb.kind == b.Kind && tb.dim == b.Dim {
			return tb
		}
	}
	return nil
}

// Add makes t, which must be zero, the topic of a selection that has none. It logs the events after
// a revision.
func (s *Set) Add(t *Topic, m *selection.Matcher, since storage.Revision) {
	tb := s.table(&m.Base)
	if tb == nil {
		tb = &table{kind: m.Base.Kind, dim: m.Base.Dim, topics: map[uint64]*Topic{}}
		s.tables = append(s.tables, tb)
	}
	t.value, t.filter, t.since = m.Base.Value, m.Filter, since
	t.bells.list = t.bells.first[:0]
	tb.add(t)
	s.topics++
}

// remove takes a topic out of its table.
func (s *Set) remove(t *Topic) {
	s.topics--
	tb := t.table
	if tb.remove(t); len(tb.topics) == 0 {
		i := slices.Index(s.tables, tb)
		s.tables = slices.Delete(s.tables, i, i+1)
	}
}

// Cut drops the events of the changes before first, which have left the history.
func (s *Set) Cut(first uint64) {
	for len(s.logged.Items()) > 0 && s.logged.Items()[0].change < first {
		t := s.logged.Items()[0].topic
		s.logged.Cut(1)
		s.cutFirst(t)
	}
}

// cutFirst drops the topic's oldest event.
func (s *Set) cutFirst(t *Topic) {
	if t.gone {
		return
	}
	t.since = max(t.since, t.log.Items()[0].Revision)
	t.log.Cut(1)
	if len(t.log.Items()) == 0 && len(t.bells.list) == 0 {
		s.remove(t)
	}
}

// End ends all readers and drops all topics. With storage.ErrCompacted the readers get the error at
// once, otherwise after the logged events.
func (s *Set) End(err error) {
	for _, tb := range s.tables {
		for _, t := range tb.topics {
			for ; t != nil; t = t.next {
				t.gone = true
				s.end(t, err)
			}
		}
	}
	s.tables, s.topics, s.logged = nil, 0, seqlog.Log[entry]{}
}

// EndCovering ends the readers in whose range the object lies. It also removes their topics, so that
// later changes of the object are not logged there.
func (s *Set) EndCovering(o *object.Object, err error) {
	var concerned []*Topic
	for _, tb := range s.tables {
		for _, t := range tb.topics {
			for ; t != nil; t = t.next {
				m := selection.Matcher{Base: selection.Base{Kind: tb.kind, Dim: tb.dim, Value: t.value}, Filter: t.filter}
				if m.Covers(o) {
					concerned = append(concerned, t)
				}
			}
		}
	}
	for _, t := range concerned {
		s.remove(t)
		s.end(t, err)
	}
}

func (s *Set) end(t *Topic, err error) {
	t.err = err
	if errors.Is(err, storage.ErrCompacted) {
		t.log = seqlog.Log[change.Event]{}
	}
	s.queue.add(t)
}
