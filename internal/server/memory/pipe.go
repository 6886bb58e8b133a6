package memory

import (
	"context"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// pipeLimit is the number of bytes that a streamed response buffers for its reader before the
// handler waits.
const pipeLimit = 64 << 10

// pipe is a streamed response in memory: a ResponseWriter for the handler and a body for the
// reader.
type pipe struct {
	ctx    context.Context
	cancel context.CancelFunc

	header http.Header
	// code and sent are set before started is closed.
	code    int
	sent    http.Header
	started chan struct{}

	mu struct {
		sync.Mutex
		buf  *[]byte // of pipeBuffers; nil while nothing waits: an idle stream holds nothing
		read int     // of buf
		end  error   // io.EOF, or why there will be no more; nil while open
	}
	// Bells of one slot: rung after bytes were added, or taken.
	added, taken chan struct{}
}

// pipeBuffers holds buffers that no pipe uses at the moment. A stream fills and empties one
// with each event: without the pool these buffers were a fifth of the allocations of a busy
// process.
var pipeBuffers = sync.Pool{New: func() any { return new([]byte) }}

func newPipe(ctx context.Context, cancel context.CancelFunc) *pipe {
	return &pipe{
		ctx: ctx, cancel: cancel, header: http.Header{}, started: make(chan struct{}),
		added: make(chan struct{}, 1), taken: make(chan struct{}, 1),
	}
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
		select {
		case <-p.taken:
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		}
	}
}

// Flush has no effect: written bytes can be read at once.
func (p *pipe) Flush() {}

// SetWriteDeadline with a time in the past ends the stream.
func (p *pipe) SetWriteDeadline(t time.Time) error {
	if !t.IsZero() && t.Before(time.Now()) {
		p.finish(os.ErrDeadlineExceeded)
		ring(p.taken)
	}
	return nil
}

// finish ends the stream. Only the first reason counts.
func (p *pipe) finish(why error) {
	p.WriteHeader(http.StatusOK)
	p.mu.Lock()
	if p.mu.end == nil {
		p.mu.end = why
	}
	p.mu.Unlock()
	ring(p.added)
}

// Read returns buffered bytes, and waits for the first.
func (p *pipe) Read(b []byte) (int, error) {
	var cut error
	for {
		p.mu.Lock()
		if n := p.take(b); n > 0 || len(b) == 0 {
			p.mu.Unlock()
			ring(p.taken)
			return n, nil
		}
		end := p.mu.end
		p.mu.Unlock()
		if end == nil {
			end = cut
		}
		if end != nil {
			return 0, end
		}
		select {
		case <-p.added:
		case <-p.ctx.Done():
			cut = p.ctx.Err()
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
		if cap(*p.mu.buf) <= 2*pipeLimit { // others were for one long piece
			*p.mu.buf = (*p.mu.buf)[:0]
			pipeBuffers.Put(p.mu.buf)
		}
		p.mu.buf, p.mu.read = nil, 0
	}
	return n
}

// Close cancels the handler's request.
func (p *pipe) Close() error {
	p.cancel()
	return nil
}

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}
