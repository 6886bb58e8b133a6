package engine

import (
	"encoding/binary"

	"github.com/tidwall/btree"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/mvcc"
)

// A Dead record is one that has been compacted but is still on disk.
type Dead struct {
	rev   storage.Revision
	sub   uint32
	size  uint32
	grave bool // it records a deletion
}

// less is the order of the log.
func (d Dead) less(o Dead) bool {
	return d.rev < o.rev || d.rev == o.rev && d.sub < o.sub
}

// Garbage is the set of all dead records. Copies share their nodes until they are written to.
type Garbage struct {
	records *btree.BTreeG[Dead]
	// Bytes is the size of all of them, graves that of the graves among them.
	Bytes, graves uint64
}

// NewGarbage returns the empty set.
func NewGarbage() Garbage {
	return Garbage{records: btree.NewBTreeGOptions(Dead.less, btree.Options{NoLocks: true})}
}

func (g *Garbage) add(v *mvcc.Version) {
	d := Dead{rev: v.KV().ModRevision, sub: v.Sub, size: uint32(recordSize(v)), grave: v.Deleted}
	if _, there := g.records.Set(d); !there {
		g.count(d, 1)
	}
}

// Remove removes records that are off the disk.
func (g *Garbage) Remove(gone []Dead) {
	for _, d := range gone {
		if _, there := g.records.Delete(d); there {
			g.count(d, ^uint64(0))
		}
	}
}

func (g *Garbage) count(d Dead, sign uint64) {
	g.Bytes += sign * uint64(d.size)
	if d.grave {
		g.graves += sign * uint64(d.size)
	}
}

// Copy returns a copy that further changes do not change.
func (g *Garbage) Copy() Garbage {
	return Garbage{g.records.Copy(), g.Bytes, g.graves}
}

const (
	garbageMin   = 256 << 10
	garbageShare = 2 // one in so many of the kept bytes
	graveShare   = 8 // likewise
)

// Much reports whether there is much garbage in a store with so many kept bytes.
func (g *Garbage) Much(kept int64) bool {
	return g.Bytes >= max(garbageMin, uint64(kept)/garbageShare)
}

// ManyGraves reports whether a large part of the garbage is graves.
func (g *Garbage) ManyGraves(kept int64) bool {
	return g.graves >= max(garbageMin, uint64(kept))/graveShare
}

// mayBury reports whether graves from a key on may be dropped: no older record is dead.
func (g *Garbage) mayBury(from []byte) bool {
	first, ok := g.records.Min()
	return !ok || !first.less(deadAt(from))
}

// deadAt returns the dead record with the place of a key of the log.
func deadAt(key []byte) Dead {
	d := Dead{rev: storage.Revision(binary.BigEndian.Uint64(key))}
	if len(key) >= recordKeySize {
		d.sub = binary.BigEndian.Uint32(key[8:])
	}
	if len(key) > recordKeySize {
		d.sub++
	}
	return d
}
