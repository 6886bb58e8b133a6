package watchcache

import (
	"math"
	"slices"
	"sort"
	"sync"

	"fairlead.dev/storage"

	"k8s.io/apimachinery/pkg/watch"
)

// Event is one change as a selection sees it.
type Event struct {
	// Type is watch.Added, watch.Modified or watch.Deleted.
	Type watch.EventType
	// Object is the new state; for watch.Deleted the last state that was in the
	// selection.
	Object *Object
	// Revision is where the change stands in the log. It is the object's own
	// unless Type is watch.Deleted.
	Revision storage.Revision
}

// AppendObject appends the object as the event shows it: with the event's
// revision.
func (e Event) AppendObject(dst []byte) []byte { return e.Object.AppendJSONAt(dst, e.Revision) }

// Form is like Object.Form for bytes that tell the event's type and revision,
// such as a watch frame.
func (e Event) Form(id Form, build func(Event) ([]byte, error)) ([]byte, error) {
	return e.Object.form(formKey{id, e.Type}, func() ([]byte, error) { return build(e) })
}

// edge is the event that a change is to a selection in which the old and the
// new state are, or are not.
func edge(ch *change, was, is bool) (Event, bool) {
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

// table holds the topics of one kind of base by the value that is looked up.
type table struct {
	kind   baseKind
	dim    dimension
	topics map[string]*topic
}

// topic is a selection that somebody watches, and the events of the kept
// history that fall into it. Fields are guarded by Cache.mu but for bells.
type topic struct {
	table *table
	value string
	// next is another topic of the same base.
	next   *topic
	filter *filter
	log    seqLog[Event]
	// since: the log holds every event of the selection after this revision.
	since storage.Revision
	// bells guards watchers against the feeder, which rings without Cache.mu;
	// writers hold both.
	bells struct {
		sync.Mutex
		watchers []*Watcher
	}
	// err ends all watchers; the topic is then out of its table.
	err error
	// gone: out of its table.
	gone bool
	// queued to be rung; guarded by Hub.mu.
	queued bool
}

// table finds the table of a base; nil if there is none.
func (c *Cache) table(b *base) *table {
	for _, tb := range c.mu.tables {
		if tb.kind == b.kind && tb.dim == b.dim {
			return tb
		}
	}
	return nil
}

// topic finds or makes the topic of a selection.
func (c *Cache) topic(m *matcher) *topic {
	tb := c.table(&m.base)
	if tb == nil {
		tb = &table{kind: m.base.kind, dim: m.base.dim, topics: map[string]*topic{}}
		c.mu.tables = append(c.mu.tables, tb)
	}
	head := tb.topics[m.base.value]
	for t := head; t != nil; t = t.next {
		if m.filter == nil && t.filter == nil || m.filter != nil && t.filter != nil && m.filter.text == t.filter.text {
			return t
		}
	}
	t := &topic{table: tb, value: m.base.value, next: head, filter: m.filter, since: c.mu.last}
	tb.topics[t.value] = t
	c.mu.topics++
	return t
}

// remove takes a topic out of its table.
func (c *Cache) remove(t *topic) {
	t.gone = true
	c.mu.topics--
	tb := t.table
	head := tb.topics[t.value]
	switch {
	case head != t:
		for ; head.next != t; head = head.next {
		}
		head.next = t.next
	case t.next != nil:
		tb.topics[t.value] = t.next
	default:
		delete(tb.topics, t.value)
		if len(tb.topics) == 0 {
			i := slices.Index(c.mu.tables, tb)
			c.mu.tables = slices.Delete(c.mu.tables, i, i+1)
		}
	}
}

// dispatch appends a change to the topics it concerns: one look-up for each
// kind of base that anybody watches, however many topics there are.
func (c *Cache) dispatch(ch *change) {
	for _, tb := range c.mu.tables {
		switch tb.kind {
		case byNothing:
			c.offer(tb.topics[""], ch, true, true)
		case byNamespace:
			c.offer(tb.topics[ch.any().Namespace()], ch, true, true)
		case byKey:
			c.offer(tb.topics[ch.any().Key()], ch, true, true)
		case byValue:
			c.dispatchValue(tb, ch)
		}
	}
}

func (c *Cache) dispatchValue(tb *table, ch *change) {
	var was, is string
	var hadOld, hasNew bool
	if ch.old != nil {
		was, hadOld = tb.dim.value(ch.old)
	}
	if ch.new != nil {
		is, hasNew = tb.dim.value(ch.new)
	}
	same := hadOld && hasNew && was == is
	if hadOld {
		c.offer(tb.topics[was], ch, true, same)
	}
	if hasNew && !same {
		c.offer(tb.topics[is], ch, false, true)
	}
}

// offer appends the change to the topics of one base whose filters it concerns.
// baseWas and baseIs say whether the base holds for the old and new state.
func (c *Cache) offer(t *topic, ch *change, baseWas, baseIs bool) {
	for ; t != nil; t = t.next {
		was := baseWas && ch.old != nil && t.filter.match(ch.old)
		is := false
		switch {
		case !baseIs || ch.new == nil:
		case baseWas && ch.old != nil && (t.filter == nil || ch.alike()):
			is = was
		default:
			is = t.filter.match(ch.new)
		}
		ev, ok := edge(ch, was, is)
		if !ok {
			continue
		}
		t.log.append(ev)
		c.mu.refs.append(topicRef{c.mu.ring.end(), t})
		c.hub.queue(t)
	}
}

// trim drops the topic's oldest event, which has left the kept history.
func (c *Cache) trim(t *topic) {
	if t.gone {
		return
	}
	t.since = max(t.since, t.log.items[0].Revision)
	t.log.cut(1)
	if len(t.log.items) == 0 && len(t.bells.watchers) == 0 {
		c.remove(t)
	}
}

// seek is the position in the log of the first event after a revision.
func (t *topic) seek(after storage.Revision) uint64 {
	items := t.log.items
	return t.log.first + uint64(sort.Search(len(items), func(i int) bool { return items[i].Revision > after }))
}

// end ends all watchers of the topic.
func (c *Cache) end(t *topic, err error) {
	t.err, t.gone = err, true
	t.log = seqLog[Event]{}
	c.hub.queue(t)
}

// ringChunk is how many bells are rung before others get the lock.
const ringChunk = 256

// ring rings the bells of all watchers, from the last to the first. Who leaves
// between two chunks is replaced by the last one, who is then either rung
// already or moves to where the ringing still has to come; who enters needs no
// bell for what was there before.
func (t *topic) ring() {
	for end := math.MaxInt; end > 0; {
		t.bells.Lock()
		ws := t.bells.watchers
		end = min(end, len(ws))
		for i := 0; i < ringChunk && end > 0; i++ {
			end--
			ws[end].ring()
		}
		t.bells.Unlock()
	}
}
