package call

import (
	"io"
	"log/slog"
	"math"
	"net/http"
	"time"

	"fairlead.dev/internal/server/h2"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/respond"
	"fairlead.dev/internal/server/serializer"
)

// WriteList writes the list in the negotiated representation.
func (c *Call) WriteList(f *represent.Representation, m represent.ListMeta, w represent.Walk) error {
	l := &represent.ListWriter{Representation: f, Walk: w}
	if f.Media == serializer.YAML {
		return c.writeYAML(l, m)
	}
	box := represent.Buffers.Get().(*[]byte)
	b, err := l.Head((*box)[:0], m)
	if err != nil {
		represent.ReleaseBuffer(box, b)
		return err
	}
	more := false
	if b, more, err = l.Next(b, represent.ChunkSize); err != nil || !more {
		defer func() { represent.ReleaseBuffer(box, b) }()
		if err == nil {
			err = c.WriteBytes(http.StatusOK, f.Media.String(), b)
		}
		return err
	}
	err = c.begin(l, w, b)
	represent.ReleaseBuffer(box, b)
	return err
}

// writeYAML writes the list as YAML, which needs all of it in one piece.
func (c *Call) writeYAML(l *represent.ListWriter, m represent.ListMeta) error {
	data, err := l.Head(nil, m)
	if err == nil {
		data, _, err = l.Next(data, math.MaxInt/2)
	}
	if err == nil {
		data, err = serializer.FinishJSON(data, serializer.YAML, false)
	}
	if err != nil {
		return err
	}
	return c.WriteBytes(http.StatusOK, serializer.YAML.String(), data)
}

// begin answers with b, the first piece of a list, and leaves the rest for after the handler's
// return. all is the whole list.
func (c *Call) begin(l *represent.ListWriter, all represent.Walk, b []byte) error {
	c.Writer.Extend(c.Limit)
	c.Writer.Header().Set("Content-Type", l.Representation.Media.String())
	if c.wantsGzip() && worthGzip(all) && respond.Zipping.Enter() {
		defer respond.Zipping.Leave()
		z := respond.StartGzip(c.Writer, http.StatusOK)
		defer z.Done()
		return l.WriteTo(z, b)
	}
	c.Writer.WriteHeader(http.StatusOK)
	if _, err := c.Writer.Write(b); err != nil {
		return err
	}
	c.Tail = &sending{l, c}
	return nil
}

// sending is a list whose response has begun.
type sending struct {
	*represent.ListWriter
	c *Call
}

// Run writes the rest from the handler's goroutine.
func (s *sending) Run() {
	box := represent.Buffers.Get().(*[]byte)
	b := (*box)[:0]
	defer func() { represent.ReleaseBuffer(box, b) }()
	for more := true; more; {
		var err error
		if b, more, err = s.Next(b[:0], represent.ChunkSize); err == nil {
			_, err = s.c.Writer.Write(b)
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// HandOver leaves the rest to the connection if that can take it.
func (s *sending) HandOver(done func(bytes int64)) bool {
	until := time.Now().Add(s.c.Limit)
	l := &handedList{s.ListWriter, s.c.Log, until, 0, done}
	_, ok := h2.HandOver(s.c.Writer, l)
	if ok { // the request has ended
		l.Rest.EndWhen(func() bool { return time.Now().After(until) })
	}
	return ok
}

// handedList is a list that its connection writes.
type handedList struct {
	*represent.ListWriter
	log *slog.Logger
	// until is when it must have been written.
	until time.Time
	// bytes is how many it has written.
	bytes int64
	done  func(bytes int64)
}

// Next implements h2.Source.
func (h *handedList) Next(dst []byte, limit int) ([]byte, bool, error) {
	if time.Now().After(h.until) {
		return dst, false, http.ErrAbortHandler
	}
	before := len(dst)
	dst, more, err := h.ListWriter.Next(dst, limit)
	h.bytes += int64(len(dst) - before)
	switch {
	case err != nil:
		h.log.Error("list cannot be encoded", "resource", h.Representation.Endpoint.ServedGR, "error", err)
		err = http.ErrAbortHandler
	case !more:
		err = io.EOF
	}
	return dst, more, err
}

// Close implements h2.Source.
func (h *handedList) Close(error) { h.done(h.bytes) }

// worthGzip reports whether a list is worth compressing, by the stored size of its first
// objects.
func worthGzip(w represent.Walk) bool {
	size := 0
	for o := range w.Items() {
		if size += o.Size(); size >= respond.GzipFrom {
			return true
		}
	}
	return false
}
