package watchcache

import "slices"

// A seqLog is a list that grows at the end and is cut at the front. Its items are numbered from 0
// and keep their numbers. Items are never moved or overwritten in place, so a slice from view stays
// valid for readers without a lock.
type seqLog[T any] struct {
	first uint64
	items []T
	// dead counts cut items whose memory is still held.
	dead int
}

func (l *seqLog[T]) end() uint64 { return l.first + uint64(len(l.items)) }

func (l *seqLog[T]) append(v T) {
	if len(l.items) == cap(l.items) {
		l.dead = 0
	}
	l.items = append(l.items, v)
}

// view returns the items from seq on, which must not be cut yet.
func (l *seqLog[T]) view(seq uint64) []T {
	return slices.Clip(l.items[seq-l.first:])
}

// cut drops the first n items, and frees their memory before it exceeds that of the rest.
func (l *seqLog[T]) cut(n int) {
	l.first += uint64(n)
	l.items = l.items[n:]
	l.dead += n
	switch {
	case len(l.items) == 0:
		l.items, l.dead = nil, 0
	case l.dead > len(l.items):
		l.items, l.dead = slices.Clone(l.items), 0
	}
}
