package h2

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

var errClosed = errors.New("h2: the stream is closed")

// body is a request's body. The reader adds to it, the handler reads.
type body struct {
	x *exchange
	// declared is the length that the client has announced, -1 for none; got is
	// what has come. Both are the reader's.
	declared, got int64

	once    sync.Once // says 100 Continue
	expects bool

	mu struct {
		sync.Mutex
		// more is signalled when there is something to read, or err.
		more sync.Cond
		buf  []byte
		off  int
		err  error // what comes after buf
	}
}

func newBody(x *exchange, declared int64) *body {
	b := &body{x: x, declared: declared}
	b.mu.more.L = &b.mu.Mutex
	return b
}

// fits says whether n more bytes are no more than was announced.
func (b *body) fits(n int) bool {
	b.got += int64(n)
	return b.declared < 0 || b.got <= b.declared
}

// add takes in what has come; false if nobody will read it.
func (b *body) add(p []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.err != nil {
		return false
	}
	if b.mu.off > 0 && len(b.mu.buf)+len(p) > cap(b.mu.buf) {
		kept := copy(b.mu.buf, b.mu.buf[b.mu.off:])
		b.mu.buf, b.mu.off = b.mu.buf[:kept], 0
	}
	b.mu.buf = append(b.mu.buf, p...)
	b.mu.more.Signal()
	return true
}

// finish notes that all has come.
func (b *body) finish() {
	if b.declared >= 0 && b.got != b.declared {
		b.fail(fmt.Errorf("h2: request declared a Content-Length of %d but only wrote %d bytes", b.declared, b.got))
		return
	}
	b.fail(io.EOF)
}

// fail says what comes after what is there; only the first word counts.
func (b *body) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.err == nil {
		b.mu.err = err
		b.mu.more.Broadcast()
	}
}

// Read is the handler's.
func (b *body) Read(p []byte) (int, error) {
	if b.expects {
		b.once.Do(b.x.proceed)
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := b.take(p)
	if n > 0 {
		st := b.x.st
		st.c.mu.Lock()
		st.c.consumed(st, n)
		st.c.mu.Unlock()
	}
	if err == io.EOF {
		b.x.takeTrailer()
	}
	return n, err
}

func (b *body) take(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.mu.buf) == b.mu.off {
		if b.mu.err != nil {
			return 0, b.mu.err
		}
		b.mu.more.Wait()
	}
	n := copy(p, b.mu.buf[b.mu.off:])
	if b.mu.off += n; b.mu.off == len(b.mu.buf) {
		b.mu.buf, b.mu.off = b.mu.buf[:0], 0
		if b.mu.err != nil {
			b.mu.buf = nil
			return n, b.mu.err
		}
	}
	return n, nil
}

// Close says that nobody will read what is left; the client may send as much
// on other streams.
func (b *body) Close() error {
	b.mu.Lock()
	left := len(b.mu.buf) - b.mu.off
	b.mu.buf, b.mu.off = nil, 0
	if b.mu.err == nil || left > 0 {
		b.mu.err = http.ErrBodyReadAfterClose
		b.mu.more.Broadcast()
	}
	b.mu.Unlock()
	c := b.x.st.c
	c.mu.Lock()
	c.consumed(nil, left)
	c.mu.Unlock()
	return nil
}
