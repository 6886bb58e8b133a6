package memory

import (
	"context"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"fairlead.dev/internal/server/h2"
)

// pipeLimit is the number of bytes that a streamed response buffers for its reader before the
// handler waits.
const pipeLimit = 64 << 10

// pipe is a streamed response in memory: a ResponseWriter for the handler and a body for the
// reader.
type pipe struct {
	// cancel ends the handler's request.
	cancel context.CancelFunc
	// unhook stops the end of the reader's request from ending the response.
	unhook func() bool

	header http.Header
	// code and sent are set before started is closed.
	code    int
	sent    http.Header
	started chan struct{}

	// rest is the part of the response that the handler has left, see TakeOver. It belongs to the handler's goroutine.
	rest h2.Source

	mu struct {
		sync.Mutex
		buf  *[]byte // of pipeBuffers; nil while nothing waits: an idle stream holds nothing
		read int     // of buf
		end  error   // io.EOF, or why there will be no more; nil while open
		// src has what follows the buffer, for the reader to ask; asking: it is being asked.
		src    h2.Source
		asking bool
	}
	// Bells of one slot: rung after bytes were added, or taken, and at the end.
	added, taken chan struct{}
}

// pipeBuffers holds buffers that no pipe uses at the moment. A stream fills and empties one
// with each event: without the pool these buffers were a fifth of the allocations of a busy
// process.
var pipeBuffers = sync.Pool{New: func() any { return new([]byte) }}

// newPipe returns the response to a request of asked. It ends when asked does.
func newPipe(asked context.Context, cancel context.CancelFunc) *pipe {
	p := &pipe{
		cancel: cancel, header: http.Header{}, started: make(chan struct{}),
		added: make(chan struct{}, 1), taken: make(chan struct{}, 1),
	}
	p.unhook = context.AfterFunc(asked, func() { p.finish(asked.Err()) })
	return p
}

func (p *pipe) Header() http.Header { return p.header }

func (p *pipe) WriteHeader(code int) {
	if p.code == 0 {
		p.code, p.sent = code, p.header.Clone()
		close(p.started)
	}
}

// Write waits until the buffer has room.
func (p *pipe) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	for {
		p.mu.Lock()
		if p.mu.end != nil {
			p.mu.Unlock()
			return 0, io.ErrClosedPipe
		}
		if p.mu.buf == nil {
			p.mu.buf = pipeBuffers.Get().(*[]byte)
		}
		if buf := *p.mu.buf; len(buf)-p.mu.read < pipeLimit {
			kept := copy(buf, buf[p.mu.read:])
			*p.mu.buf, p.mu.read = append(buf[:kept], b...), 0
			p.mu.Unlock()
			ring(p.added)
			return len(b), nil
		}
		p.mu.Unlock()
		<-p.taken
	}
}

// Flush has no effect: written bytes can be read at once.
func (p *pipe) Flush() {}

// SetWriteDeadline with a time in the past ends the stream.
func (p *pipe) SetWriteDeadline(t time.Time) error {
	if !t.IsZero() && t.Before(time.Now()) {
		p.finish(os.ErrDeadlineExceeded)
	}
	return nil
}

// finish ends the stream, after the bytes that wait. Only the first reason counts.
func (p *pipe) finish(why error) {
	p.mu.Lock()
	if p.mu.end == nil {
		p.mu.end = why
	}
	src := p.mu.src
	if p.mu.asking {
		src = nil // the reader closes it
	} else {
		p.mu.src = nil
	}
	p.mu.Unlock()
	if src != nil {
		src.Close(why)
	}
	ring(p.added)
	ring(p.taken)
}

// Read returns buffered bytes, and waits for the first.
func (p *pipe) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		p.mu.Lock()
		n, end, src := p.take(b), p.mu.end, p.mu.src
		p.mu.asking = n == 0 && end == nil && src != nil
		p.mu.Unlock()
		switch {
		case n > 0:
			ring(p.taken)
			return n, nil
		case end != nil:
			return 0, end
		case src != nil && p.ask(src):
		default:
			<-p.added
		}
	}
}

// take moves buffered bytes into b and lets an empty buffer go. It is called with the lock
// held.
func (p *pipe) take(b []byte) (n int) {
	if p.mu.buf == nil {
		return 0
	}
	n = copy(b, (*p.mu.buf)[p.mu.read:])
	if p.mu.read += n; p.mu.read == len(*p.mu.buf) {
		release(p.mu.buf)
		p.mu.buf, p.mu.read = nil, 0
	}
	return n
}

// release gives a buffer to the pool, unless it has grown for one long piece.
func release(buf *[]byte) {
	if cap(*buf) <= 2*pipeLimit {
		*buf = (*buf)[:0]
		pipeBuffers.Put(buf)
	}
}

// Close ends the response, and cancels the handler's request.
func (p *pipe) Close() error {
	p.unhook()
	p.cancel()
	p.finish(context.Canceled)
	return nil
}

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}
