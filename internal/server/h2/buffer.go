package h2

import (
	"encoding/binary"
	"io"
	"slices"
	"sync"

	"golang.org/x/net/http2"
)

const (
	frameHead = 9
	// record is the capacity of a TLS record. Each record costs one system call, however little it holds.
	record = 16 << 10
	// roundLimit is how many bytes are taken from sources for one write: a record, beside the rest of the
	// previous round. More would save no system calls, and a blocked connection holds that much.
	roundLimit = record
	// grantLimit is how much of its windows a source may use in one turn.
	grantLimit = 64 << 10
)

// buffer is a pooled piece of outgoing data.
type buffer struct {
	b []byte
	// breaks are the places at which a TLS record must begin.
	breaks []int
}

var buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, 0, 24<<10)} }}

// give returns a buffer to the pool, unless it has grown too large.
func (b *buffer) give() {
	if cap(b.b) <= 8*record {
		b.cut(0)
		buffers.Put(b)
	}
}

// appendEnd appends the end of a stream that has sent more than a record, as a frame of its own in another record than the data
// before: curl 7.88.1 takes up to a second to see the end of a long response if both come in one record.
func (b *buffer) appendEnd(id uint32) {
	b.breaks = append(b.breaks, len(b.b))
	b.b = appendData(b.b, id, 0, true)
}

// append appends another buffer's data.
func (b *buffer) append(other *buffer) {
	for _, at := range other.breaks {
		b.breaks = append(b.breaks, len(b.b)+at)
	}
	b.b = append(b.b, other.b...)
}

// writeTo writes the first n bytes.
func (b *buffer) writeTo(w io.Writer, n int) error {
	from := 0
	for _, at := range b.breaks {
		if at == from || at >= n {
			continue
		}
		if _, err := w.Write(b.b[from:at]); err != nil {
			return err
		}
		from = at
	}
	_, err := w.Write(b.b[from:n])
	return err
}

// drop removes the first n bytes.
func (b *buffer) drop(n int) {
	b.breaks = slices.DeleteFunc(b.breaks, func(at int) bool { return at < n })
	for i := range b.breaks {
		b.breaks[i] -= n
	}
	b.b = append(b.b[:0], b.b[n:]...)
}

// cut keeps the first n bytes only.
func (b *buffer) cut(n int) {
	b.breaks = slices.DeleteFunc(b.breaks, func(at int) bool { return at >= n })
	b.b = b.b[:n]
}

// appendData appends the header of a DATA frame.
func appendData(b []byte, id uint32, n int, end bool) []byte {
	var flags http2.Flags
	if end {
		flags = http2.FlagDataEndStream
	}
	b = append(b, byte(n>>16), byte(n>>8), byte(n), byte(http2.FrameData), byte(flags))
	return binary.BigEndian.AppendUint32(b, id)
}

// splitFrames turns the bytes of b from at on into frames of at most frame bytes. They stand behind room for the
// first frame's header; to make room for the other headers the pieces are moved, the last one first.
func splitFrames(b []byte, at int, id uint32, frame int, end bool) []byte {
	n := len(b) - at - frameHead
	heads := max(0, n-1) / frame // besides the first
	b = append(b, make([]byte, heads*frameHead)...)
	for i := heads; i >= 0; i-- {
		from, to := at+frameHead+i*frame, at+frameHead+min(n, (i+1)*frame)
		copy(b[from+i*frameHead:], b[from:to])
		appendData(b[:from+(i-1)*frameHead], id, to-from, end && i == heads)
	}
	return b
}

// leftover is data that waits for the peer's credit. Its memory is reused while the source has more data.
type leftover struct {
	b    []byte
	sent int
}

func (r *leftover) empty() bool { return r == nil || r.sent == len(r.b) }

func (r *leftover) put(p []byte) { r.b, r.sent = append(r.b[:0], p...), 0 }

// take returns at most n bytes, which are valid until put is called.
func (r *leftover) take(n int) []byte {
	p := r.b[r.sent:min(len(r.b), r.sent+n)]
	r.sent += len(p)
	return p
}
