package engine

import "fairlead.dev/internal/storage/mvcc"

// packing packs versions on a goroutine of its own, in the order in which a load adds them, since it takes half of the CPU of a load.
type packing struct {
	added   []added // since the last flush
	batches chan addedBatch
	done    chan struct{}
	packer  *mvcc.Packer
	// recent are versions of objects that change often, in a ring from oldest on: they are likely to be superseded soon.
	recent [mvcc.Unsettled]added
	oldest int
}

// added is a version to pack, the one that it supersedes, if that is kept, and the entry of their key.
type added struct {
	version, prev *mvcc.Version
	entry         *mvcc.Entry
}

// addedBatch are versions with their values in a memory that is to be reused.
type addedBatch struct {
	added  []added
	memory []byte
}

// startPacking starts a packing that passes memory on to reuse when no version has a value in it any more.
func startPacking(p *mvcc.Packer, reuse func(memory []byte)) *packing {
	g := &packing{batches: make(chan addedBatch, batchesAhead), done: make(chan struct{}), packer: p}
	go func() {
		defer close(g.done)
		for batch := range g.batches {
			for _, x := range batch.added {
				g.pack(x)
			}
			reuse(batch.memory)
		}
		for range g.recent {
			g.settle(added{})
		}
	}()
	return g
}

// pack packs a version, or the one before it if that has not been packed.
func (g *packing) pack(x added) {
	if !x.prev.Whole() || x.version.Deleted {
		g.packer.PackBorrowed(x.version)
		return
	}
	x.version.CopyValue()
	g.packer.Pack(x.prev, x.version)
	g.settle(x)
}

// settle puts a version in the place of the oldest recent one, which is packed if others have not superseded it.
func (g *packing) settle(x added) {
	if old := g.recent[g.oldest]; old.version != nil && old.entry.Head.Load() == old.version {
		g.packer.PackSibling(old.version)
	}
	g.recent[g.oldest] = x
	g.oldest = (g.oldest + 1) % len(g.recent)
}

func (g *packing) add(x added) { g.added = append(g.added, x) }

// flush passes on what was added. It waits while the goroutine is far behind, so that few versions are whole.
func (g *packing) flush(memory []byte) {
	g.batches <- addedBatch{g.added, memory}
	g.added = make([]added, 0, len(g.added))
}

// finish waits until all versions are packed.
func (g *packing) finish() {
	close(g.batches)
	<-g.done
}
