package trace

import (
	"math/bits"
	"sync"
	"time"
)

// Stream is a watch that is, or was, open. It must not be changed once it has been given to
// a Log.
type Stream struct {
	// ID counts the server's streams.
	ID uint64 `json:"id"`
	// User and Agent are the reader and its program.
	User  string `json:"user,omitempty"`
	Agent string `json:"agent,omitempty"`
	// Resource is "plural.group"; the next fields are the watch's selection.
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Labels    string `json:"labelSelector,omitempty"`
	Fields    string `json:"fieldSelector,omitempty"`
	// Opened is when the watch began. Earlier events reach it as a replay, whose delay
	// counts from then.
	Opened time.Time `json:"opened,omitzero"`
}

// Since is how long ago an event began, or the watch was opened if that was later.
func (s *Stream) Since(began time.Time) time.Duration {
	if s.Opened.After(began) {
		return time.Since(s.Opened)
	}
	return time.Since(began)
}

// opened is Opened as an instant of a Log, 0 for not known.
func (s *Stream) opened(l *Log) Instant {
	if s.Opened.IsZero() {
		return 0
	}
	return l.At(s.Opened)
}

// Batch is the events of one flush of a stream: their revisions in order, as the first of
// them and a bit for each of the next BatchSpan. The zero value is empty.
type Batch struct {
	first int64
	more  uint64
}

// BatchSpan is the maximum distance between the first and the last revision of a Batch.
const BatchSpan = 64

// Add adds an event, whose revision is not lower than those before. It returns false if the
// revision is too far from the first: the event then needs a Batch of its own.
func (t *Batch) Add(rev int64) bool {
	switch {
	case t.first == 0:
		t.first = rev
	case rev <= t.first: // several objects of one transaction, on etcd
	case rev-t.first > BatchSpan:
		return false
	default:
		t.more |= 1 << (rev - t.first - 1)
	}
	return true
}

// Empty reports whether the batch has no events.
func (t *Batch) Empty() bool { return t.first == 0 }

// last is the revision that was added last.
func (t *Batch) last() int64 { return t.first + int64(bits.Len64(t.more)) }

// each calls f with every revision.
func (t *Batch) each(f func(rev int64)) {
	f(t.first)
	for more := t.more; more != 0; more &= more - 1 {
		f(t.first + 1 + int64(bits.TrailingZeros64(more)))
	}
}

// delivery is one Batch of one stream.
type delivery struct {
	stream *Stream
	batch  Batch
	framed Instant
	// flushed is 0 while the connection has not written the batch, and if it never did.
	flushed Instant
}

// OpenStream is the Log's record of an open stream. Batches that were written go into the
// Log's ring; framed batches that still wait for the connection are here until then.
//
// There are many, each touched briefly for every event, so the fields that this needs are
// in one cache line.
type OpenStream struct {
	mu sync.Mutex
	// framedBatch is the number of batches that are not written yet: usually one, which is first;
	// the others are in rest.
	framed int
	first  framedBatch
	// reached is the last event that was framed.
	reached int64
	log     *Log
	to      *Stream
	rest    []framedBatch
	_       [40]byte // 128 in all, which the allocator aligns
}

// maxRest is the number of batches for which an OpenStream keeps memory.
const maxRest = 8

type framedBatch struct {
	turn Batch
	at   Instant
}

// Open records that a stream was opened; nil on a nil Log.
func (l *Log) Open(s *Stream) *OpenStream {
	if l == nil {
		return nil
	}
	w := &OpenStream{log: l, to: s}
	l.streams.Lock()
	defer l.streams.Unlock()
	if l.streams.open == nil {
		l.streams.open = map[*OpenStream]struct{}{}
	}
	l.streams.open[w] = struct{}{}
	return w
}

// Stream is the stream.
func (w *OpenStream) Stream() *Stream { return w.to }

// Framed records that a batch has been appended to the connection's unwritten data.
func (w *OpenStream) Framed(t Batch, at Instant) {
	w.mu.Lock()
	w.reached = t.last()
	if w.framed == 0 {
		w.first = framedBatch{t, at}
	} else {
		w.rest = append(w.rest, framedBatch{t, at})
	}
	w.framed++
	w.mu.Unlock()
}

// Flushed records that the connection has written all framed batches.
func (w *OpenStream) Flushed(at Instant) {
	w.mu.Lock()
	if w.framed > 0 {
		w.log.sent(w, at)
		if w.rest = w.rest[:0]; cap(w.rest) > maxRest {
			w.rest = nil
		}
		w.framed = 0
	}
	w.mu.Unlock()
	w.log.bell.ring()
}

// Close ends the stream. Framed batches that were not written stay unwritten.
func (w *OpenStream) Close() {
	if w == nil {
		return
	}
	w.log.streams.Lock()
	delete(w.log.streams.open, w)
	w.log.streams.Unlock()
	w.Flushed(0)
}

// Reached is the revision of the last framed event, or 0.
func (w *OpenStream) Reached() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reached
}

// sent records a stream's batches; w.mu is held.
func (l *Log) sent(w *OpenStream, flushed Instant) {
	r := &l.deliveries
	r.Lock()
	*r.at(r.end) = delivery{w.to, w.first.turn, w.first.at, flushed}
	r.end++
	for _, f := range w.rest {
		*r.at(r.end) = delivery{w.to, f.turn, f.at, flushed}
		r.end++
	}
	r.Unlock()
}

// delivered are the deliveries that pass, those under way last.
func (l *Log) delivered(pass func(*delivery) bool) []delivery {
	// Copy unwritten batches first: meanwhile one may move into the ring, but it cannot be
	// missing from both.
	l.streams.Lock()
	var pending []delivery
	for w := range l.streams.open {
		w.mu.Lock()
		for i := range w.framed {
			f := w.first
			if i > 0 {
				f = w.rest[i-1]
			}
			if d := (delivery{stream: w.to, batch: f.turn, framed: f.at}); pass(&d) {
				pending = append(pending, d)
			}
		}
		w.mu.Unlock()
	}
	l.streams.Unlock()
	all := l.deliveries.copy(nil, pass)
	type turn struct {
		stream *Stream
		first  int64
	}
	written := map[turn]bool{}
	if len(pending) > 0 {
		for _, d := range all {
			written[turn{d.stream, d.batch.first}] = true
		}
	}
	for _, d := range pending {
		if !written[turn{d.stream, d.batch.first}] {
			all = append(all, d)
		}
	}
	return all
}
