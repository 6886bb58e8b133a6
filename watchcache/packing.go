package watchcache

import (
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"
)

// packing packs objects. If the store packs values, too, the objects have its packed values.
type packing struct {
	store    storage.Packer // or nil
	siblings object.Siblings
	// shared has the objects of bases of the store.
	shared  map[*storage.KeyValue]*Object
	scratch []byte
}

// maxShared bounds packing.shared. An object that is made again costs as much as the attributes that it shares.
const maxShared = 4 << 10

func newPacking(s storage.Store) packing {
	store, _ := s.(storage.Packer)
	return packing{store: store}
}

// pack returns an object's packed value, or nil.
func (p *packing) pack(o *Object, k *object.Kind) *object.Packed {
	if p.store == nil {
		return object.PackSibling(o, &p.siblings)
	}
	held := p.store.Pack(o.Key(), o.Revision())
	switch {
	case held == nil:
		return nil
	case held.Base == nil && object.IsStored(o, held.KV):
		return nil
	case held.Base == nil:
		return object.PackSibling(o, &p.siblings)
	}
	if packed := object.PackLike(o, held.KV, p.base(held.Base, k), &p.scratch); packed != nil {
		return packed
	}
	return object.PackSibling(o, &p.siblings)
}

// base returns the object of a base of the store.
func (p *packing) base(kv *storage.KeyValue, k *object.Kind) *Object {
	base := p.shared[kv]
	if base == nil {
		if p.shared == nil || len(p.shared) == maxShared {
			p.shared = map[*storage.KeyValue]*Object{}
		}
		base = object.Base(kv, k)
		p.shared[kv] = base
	}
	return base
}
