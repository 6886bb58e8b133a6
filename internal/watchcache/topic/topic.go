package topic

import (
	"hash/maphash"
	"sort"

	"fairlead.dev/internal/watchcache/change"
	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/internal/watchcache/seqlog"
	"fairlead.dev/storage"
)

// A Topic is a watched selection and the events of the kept history that fall into it.
type Topic struct {
	table *table
	value string
	// next is another topic of the same base, or of one whose value has the same hash.
	next   *Topic
	filter *selection.Filter
	log    seqlog.Log[change.Event]
	// since: the log holds every event of the selection after this revision.
	since storage.Revision
	bells bells
	// err ends all readers; the topic is then out of its table.
	err error
	// gone: out of its table.
	gone bool
	// queued to be rung; guarded by the queue's lock.
	queued bool
}

// seek returns the position in the log of the first event after a revision.
func (t *Topic) seek(after storage.Revision) uint64 {
	items := t.log.Items()
	return t.log.First() + uint64(sort.Search(len(items), func(i int) bool { return items[i].Revision > after }))
}

// Ring rings the bells of all readers, without the lock of the set's owner.
func (t *Topic) Ring() { t.bells.ring() }

// A table holds the topics of one kind of base by the value that is looked up. Its map is keyed by
// hashes of the values: the garbage collector then follows one pointer for a topic.
type table struct {
	kind   selection.BaseKind
	dim    selection.Dimension
	topics map[uint64]*Topic
}

var tableSeed = maphash.MakeSeed()

// at returns the first of the topics whose values have the hash of value.
func (tb *table) at(value string) *Topic { return tb.topics[maphash.String(tableSeed, value)] }

// add puts the topic in front of those whose values have the same hash.
func (tb *table) add(t *Topic) {
	hash := maphash.String(tableSeed, t.value)
	t.table, t.next = tb, tb.topics[hash]
	tb.topics[hash] = t
}

// remove takes the topic out.
func (tb *table) remove(t *Topic) {
	t.gone = true
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
	}
}
