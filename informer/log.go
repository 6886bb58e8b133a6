package informer

import "fairlead.dev/client"

// delta is one change of one object: an add has no old, a delete no new.
type delta[T client.Object] struct {
	kind     deltaKind
	old, new T
}

type deltaKind uint8

const (
	added deltaKind = iota + 1
	updated
	deleted
)

func (d *delta[T]) key() key {
	if d.kind == deleted {
		return keyOf(d.old)
	}
	return keyOf(d.new)
}

// log is the changes from position tail up to head that some reader has yet to read. It
// is a ring that grows up to limit. The store's lock guards it.
type log[T client.Object] struct {
	ring       []delta[T] // length is a power of two, or limit
	tail, head uint64
	limit      int
}

func (l *log[T]) at(pos uint64) *delta[T] { return &l.ring[pos%uint64(len(l.ring))] }

// trim drops the entries before pos, with their objects.
func (l *log[T]) trim(pos uint64) {
	for ; l.tail < pos; l.tail++ {
		*l.at(l.tail) = delta[T]{}
	}
}

func (l *log[T]) full() bool { return int(l.head-l.tail) >= l.limit }

func (l *log[T]) append(d delta[T]) {
	if int(l.head-l.tail) == len(l.ring) {
		grown := make([]delta[T], min(l.limit, max(16, 2*len(l.ring))))
		for pos := l.tail; pos < l.head; pos++ {
			grown[pos%uint64(len(grown))] = *l.at(pos)
		}
		l.ring = grown
	}
	*l.at(l.head) = d
	l.head++
}

// record appends a change for the readers; s.mu is held.
func (s *Store[T]) record(d delta[T]) {
	if !s.mu.listed { // handlers get the first list from the store itself
		return
	}
	if s.makeRoom() {
		s.mu.log.append(d)
	}
	for _, rd := range s.mu.readers {
		if rd.behind != nil {
			rd.recordMissed(d)
		}
	}
}

// makeRoom drops the entries that all readers on the log have read, and if there are none
// takes the slowest reader off the log. It returns false if no reader is left on the log.
func (s *Store[T]) makeRoom() bool {
	l := &s.mu.log
	for {
		floor, any := l.head, false
		for _, rd := range s.mu.readers {
			if rd.behind == nil {
				floor, any = min(floor, rd.pos), true
			}
		}
		l.trim(floor)
		if !any || !l.full() {
			return any
		}
		s.detachReaders(l.tail)
	}
}

// detachReaders takes the readers at pos off the log: from now on they record the changes that
// they miss.
func (s *Store[T]) detachReaders(pos uint64) {
	l := &s.mu.log
	for _, rd := range s.mu.readers {
		if rd.behind != nil || rd.pos > pos {
			continue
		}
		rd.behind = map[key]lastNotified[T]{}
		for p := rd.pos; p < l.head; p++ {
			rd.recordMissed(*l.at(p))
		}
	}
}
