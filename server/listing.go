package server

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/h2"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/respond"
	"fairlead.dev/watchcache"
)

// walk is the objects of a list from where it stands: those of a page, or what a
// snapshot has of a selection.
type walk struct {
	// whole: the list is objects.
	whole   bool
	objects []*watchcache.Object
	rest    watchcache.Walk
}

// listed is the walk of objects that are all there.
func listed(objects []*watchcache.Object) walk { return walk{whole: true, objects: objects} }

// err is why there may be more objects than the walk has shown; nil if there are none.
func (w *walk) err() error {
	if w.rest.Stopped() {
		return context.DeadlineExceeded
	}
	return nil
}

// next is the next object, nil behind the last one.
func (w *walk) next() *watchcache.Object {
	switch {
	case !w.whole:
		return w.rest.Next()
	case len(w.objects) == 0:
		return nil
	}
	o := w.objects[0]
	w.objects = w.objects[1:]
	return o
}

// items yields what is left; what has been yielded is not left any more.
func (w *walk) items() iter.Seq[*watchcache.Object] {
	return func(yield func(*watchcache.Object) bool) {
		for o := w.next(); o != nil && yield(o); o = w.next() {
		}
	}
}

// listing is the rest of a list that is being written: a place in a snapshot, and how
// objects are told. Over HTTP/2 it is the connection that asks for the next piece when
// it has room for it: a list that a client reads slowly, and a thousand of them, hold
// no goroutine and no buffer.
type listing struct {
	f *form
	walk
	begun bool
	// left is what is still to come of a protobuf list, in bytes.
	left int
}

// head appends what stands before the items.
func (l *listing) head(dst []byte, m listMeta) ([]byte, error) {
	switch l.f.Media {
	case codec.Protobuf:
		return l.protoHead(dst, m)
	case codec.CBOR:
		return l.cborHead(dst, m), nil
	}
	return l.f.appendListHead(dst, m), nil
}

// next appends about limit bytes of items, and behind the last one the end.
func (l *listing) next(dst []byte, limit int) (_ []byte, more bool, err error) {
	full := len(dst) + limit
	for o := l.walk.next(); o != nil; o = l.walk.next() {
		if dst, err = l.appendItem(dst, o); err != nil {
			return dst, false, err
		}
		if len(dst) >= full {
			return dst, true, nil
		}
	}
	if err := l.walk.err(); err != nil {
		return dst, false, err
	}
	switch {
	case l.f.Media == codec.Protobuf && l.left != 0:
		return dst, false, fmt.Errorf("%s: a list's length is off by %d", l.f.ep.ServedGR, l.left)
	case l.f.Media == codec.Protobuf:
		return codec.AppendEnvelopeTail(dst), false, nil
	case l.f.Media == codec.CBOR:
		return dst, false, nil
	case !l.begun && l.f.Shape == request.AsPartialList:
		return append(dst[:len(dst)-1], "null}\n"...), false, nil
	}
	return append(dst, "]}\n"...), false, nil
}

func (l *listing) appendItem(dst []byte, o *watchcache.Object) ([]byte, error) {
	if l.f.Media == codec.JSON {
		if l.begun {
			dst = append(dst, ',')
		}
		l.begun = true
		return l.f.appendListElement(dst, o)
	}
	e, err := l.f.element(o)
	if err != nil {
		return dst, err
	}
	if l.f.Media == codec.CBOR {
		return append(dst, e...), nil
	}
	if l.left -= 1 + protowire.SizeBytes(len(e)); l.left < 0 {
		return dst, fmt.Errorf("%s: an encoding differs from time to time", o.Key())
	}
	return l.f.appendItem(dst, e), nil
}

// begin answers with the first piece of a list, b, and leaves the rest for when the
// handler has returned. all is the whole of it.
func (c *call) begin(l *listing, all walk, b []byte) error {
	c.w.Extend(c.limit())
	c.w.Header().Set("Content-Type", l.f.Media.String())
	if c.wantsGzip() && worthGzip(all) && respond.Zipping.Enter() {
		defer respond.Zipping.Leave()
		z := respond.StartGzip(c.w, http.StatusOK)
		defer z.Done()
		return l.writeTo(z, b)
	}
	c.w.WriteHeader(http.StatusOK)
	if _, err := c.w.Write(b); err != nil {
		return err
	}
	c.tail = &sending{l, c}
	return nil
}

// writeTo writes b and the rest.
func (l *listing) writeTo(w io.Writer, b []byte) (err error) {
	for more := true; ; {
		if _, err = w.Write(b); err != nil || !more {
			return err
		}
		if b, more, err = l.next(b[:0], chunkSize); err != nil {
			return err
		}
	}
}

// sending is a listing whose answer has begun.
type sending struct {
	*listing
	c *call
}

// run writes the rest from the handler's goroutine.
func (s *sending) run() {
	box := chunkBuffers.Get().(*[]byte)
	b := (*box)[:0]
	defer func() { giveChunk(box, b) }()
	for more := true; more; {
		var err error
		if b, more, err = s.next(b[:0], chunkSize); err == nil {
			_, err = s.c.w.Write(b)
		}
		if err != nil {
			s.c.fail(err)
		}
	}
}

// handOver leaves the rest to the connection, if it can take it.
func (s *sending) handOver(done func()) bool {
	until := time.Now().Add(s.c.limit())
	l := &handedList{s.listing, s.c.s, until, done}
	_, ok := h2.HandOver(s.c.w, l)
	if ok { // the request has ended
		l.rest.EndWhen(func() bool { return time.Now().After(until) })
	}
	return ok
}

// handedList is a listing as the connection sees it.
type handedList struct {
	*listing
	s *Server
	// until is when it must have been written.
	until time.Time
	done  func()
}

// Next is h2.Source's.
func (h *handedList) Next(dst []byte, limit int) ([]byte, bool, error) {
	if time.Now().After(h.until) {
		return dst, false, http.ErrAbortHandler
	}
	dst, more, err := h.next(dst, limit)
	switch {
	case err != nil:
		h.s.log.Error("list cannot be encoded", "resource", h.f.ep.ServedGR, "error", err)
		err = http.ErrAbortHandler
	case !more:
		err = io.EOF
	}
	return dst, more, err
}

// Close is h2.Source's.
func (h *handedList) Close(error) { h.done() }

// worthGzip says whether a list is worth compressing, from the stored size of the
// first of its objects.
func worthGzip(w walk) bool {
	size := 0
	for o := range w.items() {
		if size += len(o.Value()); size >= respond.GzipFrom {
			return true
		}
	}
	return false
}
