package server

import (
	"iter"
	"net/http"
	"sync"

	"fairlead.dev/watchcache"
)

// chunks writes a body of unknown length piece by piece. A body that fits in
// one piece is sent with its length.
type chunks struct {
	c       *call
	buf     []byte
	zip     bool
	z       gzipBody
	started bool
}

const chunkSize = 16 << 10

// startChunks begins a body of the items. Whether they are worth compressing
// is told from the stored size of the first of them.
func (c *call) startChunks(items iter.Seq[*watchcache.Object]) *chunks {
	out := &chunks{c: c, buf: (*chunkBuffers.Get().(*[]byte))[:0]}
	if !c.wantsGzip() {
		return out
	}
	size := 0
	for o := range items {
		if size += len(o.Value()); size >= gzipFrom {
			out.zip = true
			break
		}
	}
	return out
}

// spill writes what has been gathered once it is a full piece.
func (out *chunks) spill() error {
	if len(out.buf) < chunkSize {
		return nil
	}
	return out.flush()
}

func (out *chunks) flush() (err error) {
	if !out.started {
		out.started = true
		if out.zip {
			out.z = startGzip(out.c.w, http.StatusOK)
		} else {
			out.c.w.WriteHeader(http.StatusOK)
		}
	}
	if out.zip {
		_, err = out.z.Write(out.buf)
	} else {
		_, err = out.c.w.Write(out.buf)
	}
	out.buf = out.buf[:0]
	return err
}

// end writes the rest.
func (out *chunks) end() error {
	if !out.started && !out.zip {
		return out.c.writeBytes(http.StatusOK, out.c.w.Header().Get("Content-Type"), out.buf)
	}
	return out.flush()
}

// release gives the buffer back and ends a compressed body.
func (out *chunks) release() {
	if out.started && out.zip {
		out.z.done()
	}
	if cap(out.buf) <= 4*chunkSize {
		chunkBuffers.Put(&out.buf)
	}
}

// chunkBuffers are pieces of streams being put together.
var chunkBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, chunkSize+4<<10)
	return &b
}}
