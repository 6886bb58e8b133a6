package client

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"
)

// inbox has the bytes of a watch that were received and not yet read. While it waits for an event it holds no buffer: most watches
// wait most of the time.
type inbox struct {
	from  io.Reader
	first [64]byte // for the read that waits
	buf   *[]byte  // of buffers; nil if nothing is unread
	read  int      // bytes of buf
}

const (
	bufferSize    = 32 << 10 // what one read takes in
	largestPooled = 8 * bufferSize
)

// buffers holds those that no inbox uses at the moment.
var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, bufferSize)) }}

// unread returns the bytes that are there. They are valid until the next call of another method.
func (in *inbox) unread() []byte {
	if in.buf == nil {
		return nil
	}
	return (*in.buf)[in.read:]
}

// skip takes n bytes out that are there.
func (in *inbox) skip(n int) {
	if in.buf == nil {
		return
	}
	if in.read += n; in.read < len(*in.buf) {
		return
	}
	if cap(*in.buf) <= largestPooled {
		*in.buf = (*in.buf)[:0]
		buffers.Put(in.buf)
	}
	in.buf, in.read = nil, 0
}

// more waits for bytes and adds them to the unread ones.
func (in *inbox) more() error {
	if in.buf == nil {
		n, err := io.ReadAtLeast(in.from, in.first[:], 1)
		if n > 0 {
			in.buf = buffers.Get().(*[]byte)
			*in.buf = append(*in.buf, in.first[:n]...)
		}
		return err
	}
	b := *in.buf
	b, in.read = b[:copy(b, b[in.read:])], 0
	if len(b) > cap(b)/2 {
		b = slices.Grow(b, cap(b))
	}
	n, err := io.ReadAtLeast(in.from, b[len(b):cap(b)], 1)
	*in.buf = b[:len(b)+n]
	return err
}

// need returns the unread bytes when there are n, or those that came before an error.
func (in *inbox) need(n int) ([]byte, error) {
	for len(in.unread()) < n {
		if err := in.more(); err != nil {
			return in.unread(), err
		}
	}
	return in.unread()[:n], nil
}

// line returns the unread bytes up to the first end of line that comes after n bytes, or those that came before an error.
func (in *inbox) line(n int) ([]byte, error) {
	for {
		if n > maxFrame {
			return nil, fmt.Errorf("client: watch event of more than %d bytes", maxFrame)
		}
		b := in.unread()
		if i := bytes.IndexByte(b[n:], '\n'); i >= 0 {
			return b[:n+i+1], nil
		}
		n = len(b)
		if err := in.more(); err != nil {
			return in.unread(), err
		}
	}
}
