package watchcache

import (
	"fmt"
	"sync"
	"sync/atomic"

	"fairlead.dev/storage"

	"github.com/tidwall/btree"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Field is a field that selections may ask for besides metadata.name and
// metadata.namespace.
type Field struct {
	Label string
	// Paths are the places in the JSON where the value may stand; the first
	// that holds a string, number or boolean counts.
	Paths [][]string
	// Zero is the value where there is none.
	Zero string
}

// Options say what one Cache holds.
type Options struct {
	// Prefix is what the resource's keys begin with, ending in a slash:
	// "/registry/pods/". Prefixes of two caches must not contain one another.
	Prefix string
	// Namespaced: the rest of a key is namespace/name, else name.
	Namespaced bool
	Fields     []Field
	// IndexFields are labels of Fields that lists look up instead of scanning.
	IndexFields []string
	// Group and Resource name the cache in metrics and errors.
	Group, Resource string
	// Read, if not nil, makes of a stored value the JSON of the kind and version that
	// the cache holds, or says why it can't. It is not asked about values that begin
	// with TypePrefix, as the server's own do.
	Read       func(value []byte) ([]byte, error)
	TypePrefix string
}

// Cache holds one resource: its present objects, the recent changes, and who
// watches what. See the package comment for what readers are promised.
type Cache struct {
	hub  *Hub
	opts Options
	name string // plural.group
	// typePrefix is Options.TypePrefix.
	typePrefix []byte
	paths      *path
	fieldAt    map[string]int
	indexed    map[string]bool

	// snap is a snapshot of the present, nil if nobody has asked for one since
	// the last change: a change lets go of it, so that what it alone holds is
	// freed when its readers are done.
	snap atomic.Pointer[Snapshot]

	expired, decodeErrors atomic.Int64

	// mu stands below Hub.mu. Changes are applied with both held.
	mu struct {
		sync.RWMutex
		// err: not to be read: removed, or not loaded.
		err  error
		tree *btree.Map[string, *Object]
		// last is the revision of the newest change.
		last storage.Revision
		// lapses are the keys of the tree whose values cannot be read.
		lapses map[string]lapse

		// ring holds the changes after revision floor, of ringBytes.
		ring      seqLog[change]
		ringBytes int
		floor     storage.Revision
		// packed is the first change of the ring that the packer has not come to;
		// whole is the size of those from there on.
		packed uint64
		whole  int

		tables           []*table
		topics, watchers int
		// refs say which topics a change of the ring stands in, in the ring's
		// order.
		refs seqLog[topicRef]

		indexes []*index
		wanted  map[dimension]int
		// olds are snapshots of the past that were asked for lately.
		olds []*Snapshot
	}
}

type topicRef struct {
	seq   uint64
	topic *topic
}

func newCache(h *Hub, o Options) *Cache {
	c := &Cache{hub: h, opts: o, name: schema.GroupResource{Group: o.Group, Resource: o.Resource}.String(), paths: newPaths(o.Fields), fieldAt: map[string]int{}, indexed: map[string]bool{}, typePrefix: []byte(o.TypePrefix)}
	for i, f := range o.Fields {
		c.fieldAt[f.Label] = i
	}
	for _, label := range o.IndexFields {
		c.indexed[label] = true
	}
	c.mu.tree = btree.NewMap[string, *Object](0)
	c.mu.err = fmt.Errorf("%s: not loaded yet: %w", o.Resource, storage.ErrUnavailable)
	return c
}

// Options are those the cache was made with.
func (c *Cache) Options() Options { return c.opts }

// Key is the store's key of an object of this resource.
func (c *Cache) Key(namespace, name string) string {
	if !c.opts.Namespaced {
		return c.opts.Prefix + name
	}
	return c.opts.Prefix + namespace + "/" + name
}

// reset replaces everything by what the store held at a revision, and ends all
// watchers, who cannot know what came between.
func (c *Cache) reset(kvs []*storage.KeyValue, rev storage.Revision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endAll(storage.ErrCompacted)
	c.mu.err = nil
	var unreadable []*Object
	c.mu.tree, unreadable = c.treeOf(kvs)
	c.mu.lapses = c.lapsesOf(unreadable)
	c.mu.last, c.mu.floor = rev, rev
	c.mu.ring, c.mu.ringBytes = seqLog[change]{first: c.mu.ring.end()}, 0
	c.mu.packed, c.mu.whole = c.mu.ring.first, 0
	c.mu.refs = seqLog[topicRef]{}
	c.mu.indexes, c.mu.olds = nil, nil
	c.snap.Store(nil)
}

// treeOf reads keys in order. It returns beside the tree those of its objects whose
// values cannot be read.
func (c *Cache) treeOf(kvs []*storage.KeyValue) (tree *btree.Map[string, *Object], unreadable []*Object) {
	tree = btree.NewMap[string, *Object](0)
	for _, kv := range kvs {
		o := c.object(kv)
		tree.Load(kv.Key, o)
		if !o.readable() {
			unreadable = append(unreadable, o)
		}
	}
	return tree, unreadable
}

// endAll ends all watchers.
func (c *Cache) endAll(err error) {
	for _, tb := range c.mu.tables {
		for _, t := range tb.topics {
			for ; t != nil; t = t.next {
				c.end(t, err)
			}
		}
	}
	c.mu.tables, c.mu.topics = nil, 0
}

// Stats are for metrics.
type Stats struct {
	Objects int
	// Events and EventBytes are the kept history.
	Events, EventBytes int
	Topics, Watchers   int
	// Unreadable is how many of Objects have values that cannot be read.
	Unreadable int
	// Expired counts watchers that fell off the history; DecodeErrors how often a
	// stored value could not be read.
	Expired, DecodeErrors int64
}

// Stats are the present figures.
func (c *Cache) Stats() Stats {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return Stats{
		Objects:      c.mu.tree.Len(),
		Events:       len(c.mu.ring.items),
		EventBytes:   c.mu.ringBytes,
		Topics:       c.mu.topics,
		Watchers:     c.mu.watchers,
		Unreadable:   len(c.mu.lapses),
		Expired:      c.expired.Load(),
		DecodeErrors: c.decodeErrors.Load(),
	}
}
