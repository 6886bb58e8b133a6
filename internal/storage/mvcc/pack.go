package mvcc

import (
	"bytes"
	"sync/atomic"

	"fairlead.dev/internal/delta"
	"fairlead.dev/storage"
)

// Unsettled is how many of the last versions are not packed yet: they are likely to be superseded soon.
const Unsettled = 4 << 10

const (
	// minPackSize is the size of the smallest value that is packed.
	minPackSize = 256
	// maxPackChain bounds how many later versions must be restored to read one: of so many versions
	// of a key one stays whole.
	maxPackChain = 16
)

// A Packer packs versions: one goroutine at a time may use it.
type Packer struct {
	scratch  []byte
	siblings delta.Siblings[*atomic.Pointer[body]]
}

// Pack packs a version, which may be nil, against the next one, if that makes it much smaller.
func (p *Packer) Pack(v, next *Version) {
	if v == nil || v.Deleted || next.Deleted {
		return
	}
	b := v.body.Load()
	if b.base != nil || len(b.kv.Value) < minPackSize || b.kv.Version%maxPackChain == 0 {
		return
	}
	var ok bool
	if p.scratch, ok = delta.Append(p.scratch[:0], next.body.Load().whole().Value, b.kv.Value, len(b.kv.Value)/2); !ok {
		return
	}
	kv := b.kv
	kv.Value = bytes.Clone(p.scratch)
	v.body.Store(&body{kv: kv, base: &next.body})
}

// Packed returns a version as it is held, which may be packed.
func (v *Version) Packed() *storage.Packed {
	b := v.body.Load()
	if b.base == nil {
		return &storage.Packed{KV: &b.kv}
	}
	return &storage.Packed{KV: &b.kv, Base: b.base.Load().whole()}
}

// PackSibling packs a version, which may be nil, against one of a similar key, if there is one.
func (p *Packer) PackSibling(v *Version) {
	if v == nil || v.Deleted {
		return
	}
	if b := v.body.Load(); b.base == nil && !p.packSibling(v, b) {
		p.addSibling(b)
	}
}

// PackBorrowed is PackSibling for a version whose value is in memory that the caller will overwrite: if it is not packed, it gets a copy.
func (p *Packer) PackBorrowed(v *Version) {
	if b := v.body.Load(); !v.Deleted && !p.packSibling(v, b) {
		v.CopyValue()
		p.addSibling(v.body.Load())
	}
}

// packSibling packs a version with a whole body, and reports whether it could.
func (p *Packer) packSibling(v *Version, b *body) bool {
	d, base, ok := p.siblings.Find(b.kv.Key, b.kv.Value)
	if ok {
		kv := b.kv
		kv.Value = d
		v.body.Store(&body{kv: kv, base: base})
	}
	return ok
}

// addSibling makes a body a base of others. Its version may be packed later, and the base never is.
func (p *Packer) addSibling(b *body) {
	base := &atomic.Pointer[body]{}
	base.Store(b)
	p.siblings.Add(b.kv.Key, b.kv.Value, base)
}
