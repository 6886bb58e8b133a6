package h2

import (
	"encoding/binary"
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
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return &buffer{make([]byte, 0, 24<<10)} }}

// give returns a buffer to the pool, unless it has grown too large.
func (b *buffer) give() {
	if cap(b.b) <= 8*record {
		b.b = b.b[:0]
		buffers.Put(b)
	}
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
