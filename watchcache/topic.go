package watchcache

import (
	"errors"
	"math"
	"slices"
	"sort"
	"sync"

	"fairlead.dev/storage"
)

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
		// first is room for the one watcher that most topics have: what is
		// not allocated, the garbage collector need not visit.
		first [1]*Watcher
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
	t.bells.watchers = t.bells.first[:0]
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
	if !errors.Is(err, storage.ErrClosed) { // else what has come is still to be read
		t.log = seqLog[Event]{}
	}
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
