package server

import (
	"io"
	"net/http"
	"time"

	"fairlead.dev/internal/server/h2"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/respond"
)

// begin answers with b, the first piece of a list, and leaves the rest for after the handler's
// return. all is the whole list.
func (c *call) begin(l *represent.ListWriter, all represent.Walk, b []byte) error {
	c.w.Extend(c.limit())
	c.w.Header().Set("Content-Type", l.Representation.Media.String())
	if c.wantsGzip() && worthGzip(all) && respond.Zipping.Enter() {
		defer respond.Zipping.Leave()
		z := respond.StartGzip(c.w, http.StatusOK)
		defer z.Done()
		return l.WriteTo(z, b)
	}
	c.w.WriteHeader(http.StatusOK)
	if _, err := c.w.Write(b); err != nil {
		return err
	}
	c.tail = &sending{l, c}
	return nil
}

// sending is a list whose response has begun.
type sending struct {
	*represent.ListWriter
	c *call
}

// Run writes the rest from the handler's goroutine.
func (s *sending) Run() {
	box := represent.Buffers.Get().(*[]byte)
	b := (*box)[:0]
	defer func() { represent.ReleaseBuffer(box, b) }()
	for more := true; more; {
		var err error
		if b, more, err = s.Next(b[:0], represent.ChunkSize); err == nil {
			_, err = s.c.w.Write(b)
		}
		if err != nil {
			s.c.fail(err)
		}
	}
}

// HandOver leaves the rest to the connection if that can take it.
func (s *sending) HandOver(done func()) bool {
	until := time.Now().Add(s.c.limit())
	l := &handedList{s.ListWriter, s.c.s, until, done}
	_, ok := h2.HandOver(s.c.w, l)
	if ok { // the request has ended
		l.Rest.EndWhen(func() bool { return time.Now().After(until) })
	}
	return ok
}

// handedList is a list that its connection writes.
type handedList struct {
	*represent.ListWriter
	s *Server
	// until is when it must have been written.
	until time.Time
	done  func()
}

// Next implements h2.Source.
func (h *handedList) Next(dst []byte, limit int) ([]byte, bool, error) {
	if time.Now().After(h.until) {
		return dst, false, http.ErrAbortHandler
	}
	dst, more, err := h.ListWriter.Next(dst, limit)
	switch {
	case err != nil:
		h.s.log.Error("list cannot be encoded", "resource", h.Representation.Endpoint.ServedGR, "error", err)
		err = http.ErrAbortHandler
	case !more:
		err = io.EOF
	}
	return dst, more, err
}

// Close implements h2.Source.
func (h *handedList) Close(error) { h.done() }

// worthGzip reports whether a list is worth compressing, by the stored size of its first
// objects.
func worthGzip(w represent.Walk) bool {
	size := 0
	for o := range w.Items() {
		if size += len(o.Value()); size >= respond.GzipFrom {
			return true
		}
	}
	return false
}
