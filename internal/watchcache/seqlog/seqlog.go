// Package seqlog is a log in memory whose items keep their numbers.
package seqlog

import "slices"

// A Log is a list that grows at the end and is cut at the front. Its items are numbered from 0 and
// keep their numbers. Items are never moved or overwritten in place, so a slice from View stays
// valid for readers without a lock. All other calls need the lock of the log's owner. The zero Log
// is empty.
type Log[T any] struct {
	first uint64
	items []T
	// dead counts cut items whose memory is still held.
	dead int
}

// First returns the number of the first item.
func (l *Log[T]) First() uint64 { return l.first }

// End returns the number of the next item.
func (l *Log[T]) End() uint64 { return l.first + uint64(len(l.items)) }

// Items returns the items. The slice is valid until the next call that changes the log.
func (l *Log[T]) Items() []T { return l.items }

// Append adds an item at the end.
func (l *Log[T]) Append(v T) {
	if len(l.items) == cap(l.items) {
		l.dead = 0
	}
	l.items = append(l.items, v)
}

// View returns the items from seq on, which must not be cut yet.
func (l *Log[T]) View(seq uint64) []T {
	return slices.Clip(l.items[seq-l.first:])
}

// Cut drops the first n items, and frees their memory before it exceeds that of the rest.
func (l *Log[T]) Cut(n int) {
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
