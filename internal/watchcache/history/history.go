package history

import (
	"sort"

	"fairlead.dev/internal/watchcache/change"
	"fairlead.dev/internal/watchcache/seqlog"
	"fairlead.dev/storage"
)

const (
	// unpackedBytes is how much of the newest history stays unpacked, for watchers that follow it,
	// and packStep how much is packed in one go.
	unpackedBytes = 1 << 20
	packStep      = 256 << 10
)

// A History holds the changes after revision Floor. The zero History is empty.
type History struct {
	ring seqlog.Log[change.Change]
	// bytes is the size of all changes.
	bytes int
	floor storage.Revision
	// packed is the first change of the ring that the packer has not reached; whole is the size of
	// the changes from there on.
	packed uint64
	whole  int
	// shared is the revision up to which other histories may hold the same objects.
	shared storage.Revision
}

// Share keeps the objects up to a revision unpacked: packed ones would refer to their successors in this history, and the
// other histories have other successors.
func (h *History) Share(upTo storage.Revision) { h.shared = max(h.shared, upTo) }

// Shared returns the revision of Share.
func (h *History) Shared() storage.Revision { return h.shared }

// Floor returns the revision after which all changes are kept.
func (h *History) Floor() storage.Revision { return h.floor }

// Len returns the number of kept changes.
func (h *History) Len() int { return len(h.ring.Items()) }

// Bytes returns the size of the kept changes.
func (h *History) Bytes() int { return h.bytes }

// First returns the number of the oldest kept change.
func (h *History) First() uint64 { return h.ring.First() }

// End returns the number of the next change.
func (h *History) End() uint64 { return h.ring.End() }

// After returns the number of the first change after a revision, which is not below the floor.
func (h *History) After(rev storage.Revision) uint64 {
	items := h.ring.Items()
	return h.ring.First() + uint64(sort.Search(len(items), func(i int) bool { return items[i].Revision > rev }))
}

// View returns the changes from a number on, which must not be dropped yet.
func (h *History) View(from uint64) []change.Change { return h.ring.View(from) }

// Reset drops all changes; the next ones come after the revision.
func (h *History) Reset(floor storage.Revision) {
	h.ring.Cut(len(h.ring.Items()))
	h.bytes, h.packed, h.whole, h.floor = 0, h.ring.First(), 0, floor
}

// Append adds the newest change, and reports whether there is enough to pack.
func (h *History) Append(ch *change.Change) (pack bool) {
	h.ring.Append(*ch)
	size := ch.Size()
	h.bytes += size
	h.whole += size
	return h.whole > unpackedBytes+packStep
}

// Expire drops the changes that were made before oldest, in Unix nanoseconds, and the oldest ones of
// more than maxBytes. It reports whether there were any.
func (h *History) Expire(oldest int64, maxBytes int) bool {
	n := 0
	for n < len(h.ring.Items()) {
		ch := &h.ring.Items()[n]
		if ch.At >= oldest && h.bytes <= maxBytes {
			break
		}
		h.bytes -= ch.Size()
		if h.ring.First()+uint64(n) >= h.packed {
			h.whole -= ch.Size()
		}
		h.floor = ch.Revision
		n++
	}
	if n == 0 {
		return false
	}
	h.ring.Cut(n)
	h.packed = max(h.packed, h.ring.First())
	return true
}
