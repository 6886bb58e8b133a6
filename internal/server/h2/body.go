package h2

import (
	"fmt"
	"io"
	"net/http"
	"sync"
)

// A bodyOwner is the exchange of a body.
type bodyOwner interface {
	// sendContinue sends 100 Continue.
	sendContinue()
	// consumed returns the flow-control credit of n bytes that the handler has read, discarded that of n bytes that
	// it will not read.
	consumed(n int)
	discarded(n int)
	// takeTrailer gives the received trailers to the handler's request, at the end of the body.
	takeTrailer()
}

// body is a request's body. The connection's reader appends to it and the handler reads from it.
type body struct {
	owner bodyOwner
	// declared is the Content-Length, or -1; got is the number of bytes received. Both belong
	// to the reader.
	declared, got int64

	once    sync.Once // sends 100 Continue
	expects bool

	mu struct {
		sync.Mutex
		// more is signalled when buf has data or err is set.
		more sync.Cond
		buf  []byte
		off  int
		err  error // returned once buf has been read
	}
}

func newBody(owner bodyOwner, declared int64) *body {
	b := &body{owner: owner, declared: declared}
	b.mu.more.L = &b.mu.Mutex
	return b
}

// fits counts n more bytes and reports whether the body is still within its Content-Length.
func (b *body) fits(n int) bool {
	b.got += int64(n)
	return b.declared < 0 || b.got <= b.declared
}

// add appends received data. It returns false if the body was closed, so that the data will not be read.
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

// finish marks the end of the body.
func (b *body) finish() {
	if b.declared >= 0 && b.got != b.declared {
		b.fail(fmt.Errorf("h2: request declared a Content-Length of %d but only wrote %d bytes", b.declared, b.got))
		return
	}
	b.fail(io.EOF)
}

// fail sets the error that readers get once the buffered data has been read. Only the first error counts.
func (b *body) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.err == nil {
		b.mu.err = err
		b.mu.more.Broadcast()
	}
}

// Read is called by the handler.
func (b *body) Read(p []byte) (int, error) {
	if b.expects {
		b.once.Do(b.owner.sendContinue)
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := b.take(p)
	if n > 0 {
		b.owner.consumed(n)
	}
	if err == io.EOF {
		b.owner.takeTrailer()
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

// Close discards the unread data and returns its flow-control credit, so that the client may send as much on other
// streams.
func (b *body) Close() error {
	b.mu.Lock()
	left := len(b.mu.buf) - b.mu.off
	b.mu.buf, b.mu.off = nil, 0
	if b.mu.err == nil || left > 0 {
		b.mu.err = http.ErrBodyReadAfterClose
		b.mu.more.Broadcast()
	}
	b.mu.Unlock()
	b.owner.discarded(left)
	return nil
}
