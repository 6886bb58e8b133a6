package watchcache

import (
	"errors"
	"hash/maphash"
	"math"
	"slices"
	"sort"
	"sync"

	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/internal/watchcache/seqlog"
	"fairlead.dev/storage"
)

// A topicTable holds the topics of one kind of base by the value that is looked up. Its map is
// keyed by hashes of the values: the garbage collector then follows one pointer for a topic.
type topicTable struct {
	kind   selection.BaseKind
	dim    selection.Dimension
	topics map[uint64]*topic
}

var tableSeed = maphash.MakeSeed()

// at returns the first of the topics whose values have the hash of value.
func (tb *topicTable) at(value string) *topic { return tb.topics[maphash.String(tableSeed, value)] }

// A topic is a watched selection and the events of the kept history that fall into it. Fields
// except bells are guarded by Cache.mu.
type topic struct {
	table *topicTable
	value string
	// next is another topic of the same base, or of one whose value has the same hash.
	next   *topic
	filter *selection.Filter
	log    seqlog.Log[Event]
	// since: the log holds every event of the selection after this revision.
	since storage.Revision
	// bells guards watchers against the feeder, which rings without Cache.mu; writers hold both.
	bells struct {
		sync.Mutex
		watchers []*Watcher
		// first is room for the only watcher of most topics.
		first [1]*Watcher
	}
	// err ends all watchers; the topic is then out of its table.
	err error
	// gone: out of its table.
	gone bool
	// queued to be rung; guarded by Hub.mu.
	queued bool
}

// table finds the table of a base; nil if it does not exist.
func (c *Cache) table(b *selection.Base) *topicTable {
	for _, tb := range c.mu.tables {
		if tb.kind == b.Kind && tb.dim == b.Dim {
			return tb
		}
	}
	return nil
}

// newWatcher finds or makes the topic of a selection and makes a watcher of it. Most topics have
// one watcher, so both are one allocation: fewer objects for the garbage collector to visit.
func (c *Cache) newWatcher(m *selection.Matcher) *Watcher {
	tb := c.table(&m.Base)
	if tb == nil {
		tb = &topicTable{kind: m.Base.Kind, dim: m.Base.Dim, topics: map[uint64]*topic{}}
		c.mu.tables = append(c.mu.tables, tb)
	}
	hash := maphash.String(tableSeed, m.Base.Value)
	head := tb.topics[hash]
	for t := head; t != nil; t = t.next {
		if t.value == m.Base.Value && m.Filter.Equal(t.filter) {
			return &Watcher{topic: t}
		}
	}
	both := &struct {
		Watcher
		topic
	}{Watcher{}, topic{table: tb, value: m.Base.Value, next: head, filter: m.Filter, since: c.mu.last}}
	w, t := &both.Watcher, &both.topic
	w.topic = t
	t.bells.watchers = t.bells.first[:0]
	tb.topics[hash] = t
	c.mu.topics++
	return w
}

// remove takes a topic out of its table.
func (c *Cache) remove(t *topic) {
	t.gone = true
	c.mu.topics--
	tb := t.table
	hash := maphash.String(tableSeed, t.value)
	head := tb.topics[hash]
	switch {
	case head != t:
		for ; head.next != t; head = head.next {
		}
		head.next = t.next
	case t.next != nil:
		tb.topics[hash] = t.next
	default:
		delete(tb.topics, hash)
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
	t.since = max(t.since, t.log.Items()[0].Revision)
	t.log.Cut(1)
	if len(t.log.Items()) == 0 && len(t.bells.watchers) == 0 {
		c.remove(t)
	}
}

// seek returns the position in the log of the first event after a revision.
func (t *topic) seek(after storage.Revision) uint64 {
	items := t.log.Items()
	return t.log.First() + uint64(sort.Search(len(items), func(i int) bool { return items[i].Revision > after }))
}

// end ends all watchers of the topic.
func (c *Cache) end(t *topic, err error) {
	t.err, t.gone = err, true
	if errors.Is(err, storage.ErrCompacted) { // otherwise the logged events are still to be read
		t.log = seqlog.Log[Event]{}
	}
	c.hub.queue(t)
}

// ringChunk is how many bells are rung before others get the lock.
const ringChunk = 256

// ring rings the bells of all watchers, from the last to the first. A watcher that leaves between
// two chunks is replaced by the last one, which either has been rung or moves to a place that is
// still to be rung. A watcher that enters needs no bell for the events before it.
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
