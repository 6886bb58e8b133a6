package watchcache

import (
	"fmt"
	"sync"
	"sync/atomic"

	"fairlead.dev/internal/watchcache/index"
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/seqlog"
	"fairlead.dev/storage"

	"github.com/tidwall/btree"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Options configure one Cache.
type Options struct {
	// Prefix is the common prefix of the resource's keys, ending in a slash: "/registry/pods/".
	// Prefixes of two caches must not contain one another.
	Prefix string
	// Namespaced: the rest of a key is namespace/name; otherwise it is the name.
	Namespaced bool
	Fields     []Field
	// IndexFields are the labels of Fields by which lists look up objects instead of scanning.
	IndexFields []string
	// Group and Resource name the cache in metrics and errors.
	Group, Resource string
	// Read, if not nil, converts a stored value to the JSON of the cache's kind and version, or
	// fails. It is not called for values that begin with TypePrefix, as the server's own values do.
	Read       func(value []byte) ([]byte, error)
	TypePrefix string
}

// A Cache holds one resource: its current objects, the recent changes, and the topics of its
// watchers. The package comment states the promises to readers.
type Cache struct {
	hub  *Hub
	opts Options
	name string // plural.group
	kind *object.Kind
	// indexed are Options.IndexFields.
	indexed map[string]bool

	// snap is a snapshot of the current state, nil if no reader has asked for one since the last
	// change. A change clears it, so that the memory that only the snapshot holds is freed when its
	// readers are done.
	snap atomic.Pointer[Snapshot]

	expired, decodeErrors atomic.Int64

	// mu is taken after Hub.mu. Changes are applied with both held.
	mu struct {
		sync.RWMutex
		// err: the cache is removed or not loaded.
		err  error
		tree *btree.Map[string, *Object]
		// last is the revision of the newest change.
		last storage.Revision
		// lapses are the keys of the tree whose values are unreadable.
		lapses map[string]lapse

		// ring holds the changes after revision floor, of ringBytes in total.
		ring      seqlog.Log[change]
		ringBytes int
		floor     storage.Revision
		// packed is the first change of the ring that the packer has not reached;
		// whole is the size of the changes from there on.
		packed uint64
		whole  int

		tables           []*topicTable
		topics, watchers int
		// refs list the topics in which each change of the ring is logged, in the ring's order.
		refs seqlog.Log[topicRef]

		indexes index.Set
		// pastSnapshots are the exact snapshots that were read lately.
		pastSnapshots []*Snapshot
	}
}

// kind returns the kind of the objects.
func (o *Options) kind(encodings *object.Encodings) *object.Kind {
	return object.NewKind(object.Kind{
		Prefix: o.Prefix, Namespaced: o.Namespaced, Fields: o.Fields,
		Read: o.Read, TypePrefix: []byte(o.TypePrefix), Encodings: encodings,
	})
}

type topicRef struct {
	seq   uint64
	topic *topic
}

func newCache(h *Hub, o Options) *Cache {
	c := &Cache{hub: h, opts: o, name: schema.GroupResource{Group: o.Group, Resource: o.Resource}.String(), kind: o.kind(&h.encodings), indexed: map[string]bool{}}
	for _, label := range o.IndexFields {
		c.indexed[label] = true
	}
	c.mu.tree = btree.NewMap[string, *Object](0)
	c.mu.err = fmt.Errorf("%s: not loaded yet: %w", o.Resource, storage.ErrUnavailable)
	return c
}

// Options returns the options of the cache.
func (c *Cache) Options() Options { return c.opts }

// Key returns the store's key of an object of this resource.
func (c *Cache) Key(namespace, name string) string { return c.kind.Key(namespace, name) }

// reset replaces all objects by those that the store held at a revision, and ends all watchers: the
// changes in between are unknown.
func (c *Cache) reset(kvs []*storage.KeyValue, rev storage.Revision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endAll(storage.ErrCompacted)
	c.mu.err = nil
	var unreadable []*Object
	c.mu.tree, unreadable = c.treeOf(kvs)
	c.mu.lapses = c.lapsesOf(unreadable)
	c.mu.last, c.mu.floor = rev, rev
	c.mu.ring.Cut(len(c.mu.ring.Items()))
	c.mu.ringBytes, c.mu.packed, c.mu.whole = 0, c.mu.ring.First(), 0
	c.mu.refs = seqlog.Log[topicRef]{}
	c.mu.indexes.Reset()
	c.mu.pastSnapshots = nil
	c.snap.Store(nil)
}

// treeOf builds a tree from keys in order. It also returns the objects whose values are unreadable.
func (c *Cache) treeOf(kvs []*storage.KeyValue) (tree *btree.Map[string, *Object], unreadable []*Object) {
	tree = btree.NewMap[string, *Object](0)
	for _, kv := range kvs {
		o := c.object(kv)
		tree.Load(kv.Key, o)
		if !object.Readable(o) {
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

// Stats are figures for metrics.
type Stats struct {
	Objects int
	// Events and EventBytes measure the kept history.
	Events, EventBytes int
	Topics, Watchers   int
	// Unreadable counts the objects whose values are unreadable.
	Unreadable int
	// Expired counts watchers that fell behind the kept history; DecodeErrors counts failures to
	// read a stored value.
	Expired, DecodeErrors int64
}

// Stats returns the current figures.
func (c *Cache) Stats() Stats {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return Stats{
		Objects:      c.mu.tree.Len(),
		Events:       len(c.mu.ring.Items()),
		EventBytes:   c.mu.ringBytes,
		Topics:       c.mu.topics,
		Watchers:     c.mu.watchers,
		Unreadable:   len(c.mu.lapses),
		Expired:      c.expired.Load(),
		DecodeErrors: c.decodeErrors.Load(),
	}
}
