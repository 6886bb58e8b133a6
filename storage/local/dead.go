package local

import (
	"github.com/tidwall/btree"

	"fairlead.dev/storage"
)

// A dead record is one that has been compacted but is still on disk.
type dead struct {
	rev   storage.Revision
	sub   uint32
	size  uint32
	grave bool // it records a deletion
}

// less is the order of the log.
func (d dead) less(o dead) bool {
	return d.rev < o.rev || d.rev == o.rev && d.sub < o.sub
}

// garbage is the set of all dead records. Copies share their nodes until they are written to.
type garbage struct {
	records *btree.BTreeG[dead]
	// bytes is the size of all of them, graves that of the graves among them.
	bytes, graves uint64
}

func newGarbage() garbage {
	return garbage{records: btree.NewBTreeGOptions(dead.less, btree.Options{NoLocks: true})}
}

func (g *garbage) add(v *version) {
	d := dead{rev: v.kv().ModRevision, sub: v.sub, size: uint32(recordSize(v)), grave: v.deleted}
	if _, there := g.records.Set(d); !there {
		g.count(d, 1)
	}
}

// remove removes records that are off the disk.
func (g *garbage) remove(gone []dead) {
	for _, d := range gone {
		if _, there := g.records.Delete(d); there {
			g.count(d, ^uint64(0))
		}
	}
}

func (g *garbage) count(d dead, sign uint64) {
	g.bytes += sign * uint64(d.size)
	if d.grave {
		g.graves += sign * uint64(d.size)
	}
}

func (g *garbage) copy() garbage {
	return garbage{g.records.Copy(), g.bytes, g.graves}
}

// mayBury reports whether graves from a key on may be dropped: no older record is dead.
func (g *garbage) mayBury(from []byte) bool {
	first, ok := g.records.Min()
	return !ok || !first.less(deadAt(from))
}
