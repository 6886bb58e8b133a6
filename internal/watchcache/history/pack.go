package history

import (
	"fairlead.dev/internal/watchcache/change"
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"
)

// A Packing is the packing of the changes that are old enough. It has three steps, of which only the
// first and the last need the lock of the history's owner: History.Unpacked, Pack, History.SetPacked.
// One goroutine at a time packs a history.
type Packing struct {
	first  uint64
	whole  int
	view   []change.Change
	bodies []*object.Packed
	shared storage.Revision
}

// Unpacked returns the changes that have not been packed.
func (h *History) Unpacked() Packing {
	return Packing{first: h.packed, whole: h.whole, view: h.ring.View(h.packed), shared: h.shared}
}

// Pack packs all of the changes but the newest.
func (p *Packing) Pack() {
	p.bodies = make([]*object.Packed, 0, len(p.view))
	var scratch []byte
	for i := range p.view {
		if p.whole <= unpackedBytes {
			break
		}
		ch := &p.view[i]
		p.whole -= ch.Size()
		var b *object.Packed
		if ch.Old != nil && ch.New != nil && ch.Old.Revision() > p.shared {
			b = object.Pack(ch.Old, ch.New, &scratch)
		}
		p.bodies = append(p.bodies, b)
	}
}

// SetPacked replaces the states of the changes by the packed ones.
func (h *History) SetPacked(p *Packing) {
	for i, b := range p.bodies {
		// Changes that have left the ring meanwhile are not in its sums any more.
		seq := p.first + uint64(i)
		if seq < h.packed {
			continue
		}
		ch := &p.view[i]
		h.packed, h.whole = seq+1, h.whole-ch.Size()
		if b != nil && ch.Old.Revision() > h.shared {
			h.bytes -= ch.Size()
			object.SetPacked(ch.Old, b)
			h.bytes += ch.Size()
		}
	}
}
