package engine

import "fairlead.dev/internal/storage/mvcc"

// packing packs versions on a goroutine of its own, in the order in which a load wants that, since it takes more than half of the
// time of a load.
type packing struct {
	batch   []packed // wanted since the last flush
	batches chan []packed
	done    chan struct{}
}

// packed is a version to pack: against the next one of its key, or if that is nil against one of a similar key.
type packed struct{ version, next *mvcc.Version }

func startPacking(p *mvcc.Packer) *packing {
	g := &packing{batches: make(chan []packed, batchesAhead), done: make(chan struct{})}
	go func() {
		defer close(g.done)
		for batch := range g.batches {
			for _, x := range batch {
				if x.next != nil {
					p.Pack(x.version, x.next)
				} else {
					p.PackSibling(x.version)
				}
			}
		}
	}()
	return g
}

func (g *packing) add(version, next *mvcc.Version) { g.batch = append(g.batch, packed{version, next}) }

// flush passes on what was added. It waits while the goroutine is far behind, so that few versions are whole.
func (g *packing) flush() {
	if len(g.batch) > 0 {
		g.batches <- g.batch
		g.batch = make([]packed, 0, len(g.batch))
	}
}

// finish packs the rest, and waits for the end.
func (g *packing) finish() {
	g.flush()
	close(g.batches)
	<-g.done
}
