package watchcache

import (
	"fairlead.dev/internal/watchcache/follow"
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"

	"github.com/tidwall/btree"
)

// loading makes the objects of a resource from all its keys. It packs them at once: whole, those of a large cluster would
// take several times the memory that they take soon after.
type loading struct {
	resource   *resource
	packing    packing
	tree       *btree.Map[string, *Object]
	unreadable []*Object
}

func newLoading(r *resource, s storage.Store) loading {
	return loading{resource: r, packing: newPacking(s), tree: btree.NewMap[string, *Object](0)}
}

// Add adds the object of a key. Keys come in order.
func (l *loading) Add(held *storage.Packed) {
	o := l.object(held)
	l.tree.Load(held.KV.Key, o)
	if !object.Readable(o) {
		l.unreadable = append(l.unreadable, o)
	}
}

func (l *loading) object(held *storage.Packed) *Object {
	kv := held.KV
	if held.Base != nil {
		base := l.packing.base(held.Base, l.resource.kind)
		if o := object.NewLike(held.KV, base, &l.packing.scratch); o != nil {
			return o
		}
		kv = object.Restored(held.KV, base)
	}
	o := l.resource.object(kv)
	if l.packing.store == nil || !object.IsStored(o, held.KV) { // otherwise the store has the value anyway
		if packed := object.PackSibling(o, &l.packing.siblings); packed != nil {
			object.SetPacked(o, packed)
		}
	}
	return o
}

// stateLoad is a new state in the making.
type stateLoad struct {
	loading
	state *state
	rev   storage.Revision
}

// Load implements follow.Sink.
func (s *state) Load(rev storage.Revision) follow.Load {
	return &stateLoad{newLoading(s.resource, s.store), s, rev}
}

// Done implements follow.Load. It ends all watchers.
func (l *stateLoad) Done() { l.state.reset(l.tree, l.unreadable, l.rev) }
