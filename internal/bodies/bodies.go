// Package bodies passes the body of an answer from a server to a client of the same process without a copy, and uses the
// memory of short bodies again.
package bodies

import (
	"bytes"
	"io"
	"sync"
)

// largest is how many bytes a body may have to be used again.
const largest = 64 << 10

var pool sync.Pool // of *[]byte

// Room returns n bytes of any content, of a body that was freed if that is large enough.
func Room(n int) []byte {
	if n <= largest {
		if b, ok := pool.Get().(*[]byte); ok && cap(*b) >= n {
			return (*b)[:n]
		}
	}
	return make([]byte, n)
}

// Free gives back a body to which no reference remains.
func Free(b []byte) {
	if cap(b) > 0 && cap(b) <= largest {
		pool.Put(&b)
	}
}

// A Body is a whole body in memory. One goroutine reads it.
type Body struct {
	bytes.Reader
	text []byte
}

var _ io.ReadCloser = (*Body)(nil)

// New returns a body, which has the text from then on.
func New(text []byte) *Body {
	b := &Body{text: text}
	b.Reset(text)
	return b
}

// Take returns the text in place of Read, for the caller to keep or to free.
func (b *Body) Take() []byte {
	b.Reset(nil)
	return b.text
}

// Close implements io.Closer.
func (b *Body) Close() error { return nil }
