package trace

import "sync"

// Write is the server's record of the request that made an event.
type Write struct {
	// Verb is the request's, Subresource "" for the object itself.
	Verb, Subresource string
	// User and Agent are the sender and its program.
	User, Agent string
	// Parent is the request's trace context.
	Parent Parent
	// At holds the hops up to Queued.
	At [Queued + 1]Instant
}

// life is the record of one event. The store, the watch cache and the request write their
// parts from different processors, so the fields of each writer are adjacent.
type life struct {
	revision int64
	// after holds the hops behind Queued.
	after [Hops - Queued - 1]Instant
	// resource, key and typ come from the watch cache; topics is the number of selections
	// that the event matched.
	resource, key string
	topics        int32
	typ           Type
	// written reports whether write, and with it the hops up to Queued, is set.
	written bool
	write   Write
}

// at is when a hop was passed, 0 for never.
func (lf *life) at(h Hop) Instant {
	if h <= Queued {
		return lf.write.At[h]
	}
	return lf.after[h-Queued-1]
}

// lives is a ring with a slot for each revision.
type lives struct {
	sync.Mutex
	chunks []*[chunk]life
	newest int64
}

func (ls *lives) resize(events int) {
	n := 1
	for n*chunk < events {
		n *= 2
	}
	ls.chunks = make([]*[chunk]life, n)
}

// at is the slot of a revision, which it takes over from an older one; nil if a newer one has it.
func (ls *lives) at(rev int64) *life {
	i := rev / chunk & int64(len(ls.chunks)-1)
	c := ls.chunks[i]
	if c == nil {
		c = new([chunk]life)
		ls.chunks[i] = c
	}
	lf := &c[rev%chunk]
	switch {
	case lf.revision > rev:
		return nil
	case lf.revision < rev:
		*lf = life{revision: rev}
		ls.newest = max(ls.newest, rev)
	}
	return lf
}

// find is the slot of a revision, nil if it has left the ring.
func (ls *lives) find(rev int64) *life {
	if c := ls.chunks[rev/chunk&int64(len(ls.chunks)-1)]; c != nil && rev > 0 && c[rev%chunk].revision == rev {
		return &c[rev%chunk]
	}
	return nil
}

func (ls *lives) room() int64 { return int64(len(ls.chunks)) * chunk }

// Wrote records the request that made an event, and the hops that it has passed. It keeps a
// copy of the Write.
func (l *Log) Wrote(rev int64, w *Write) {
	if l == nil {
		return
	}
	l.lives.Lock()
	if lf := l.lives.at(rev); lf != nil {
		lf.write, lf.written = *w, true
	}
	l.lives.Unlock()
	l.bell.ring()
}

// Stamp records that the events with the revisions from to to have passed a hop after Queued.
func (l *Log) Stamp(h Hop, from, to int64, i Instant) {
	if l == nil {
		return
	}
	l.lives.Lock()
	for rev := max(from, to-l.lives.room()+1); rev <= to; rev++ {
		if lf := l.lives.at(rev); lf != nil {
			lf.after[h-Queued-1] = i
		}
	}
	l.lives.Unlock()
}

// Cached records an event's object and type from the watch cache, and the number of topics
// that it matched. key is the object's "namespace/name" or "name". If one transaction wrote
// several objects, as a Service and its IPAddress, the first names the event.
func (l *Log) Cached(rev int64, resource, key string, t Type, topics int, i Instant) {
	if l == nil {
		return
	}
	l.lives.Lock()
	if lf := l.lives.at(rev); lf != nil {
		lf.after[Cached-Queued-1] = i
		lf.topics += int32(topics)
		if lf.resource == "" {
			lf.resource, lf.key, lf.typ = resource, key, t
		}
	}
	l.lives.Unlock()
	l.bell.ring()
}
