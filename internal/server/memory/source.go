package memory

import (
	"io"
	"net/http"
	"time"

	"fairlead.dev/internal/server/h2"
)

// chunk is about how many bytes a source is asked for at a time.
const chunk = 32 << 10

// TakeOver implements h2.Taker. What the source has when the handler returns is buffered by the handler's goroutine, so that the
// reader can decode it meanwhile. Then the reader asks the source, and the response has no goroutine.
func (p *pipe) TakeOver(src h2.Source) (ring func()) {
	p.WriteHeader(http.StatusOK)
	p.rest = src
	return p.ring
}

func (p *pipe) ring() { ring(p.added) }

// passOn buffers what the rest of the response has, and leaves it to the reader.
func (p *pipe) passOn() {
	src := p.rest
	p.rest, p.header = nil, nil // not used any more
	box := pipeBuffers.Get().(*[]byte)
	defer release(box)
	for more := true; more; {
		var err, cut error
		*box, more, err = src.Next((*box)[:0], chunk)
		if len(*box) > 0 {
			_, cut = p.Write(*box)
			flushed(src)
		}
		if err != nil || cut != nil {
			p.finish(endOf(err))
			p.unhook()
			src.Close(cut)
			return
		}
	}
	p.mu.Lock()
	ended := p.mu.end
	if ended == nil {
		p.mu.src = src
	}
	p.mu.Unlock()
	if ended != nil {
		src.Close(ended)
	}
	p.ring()
}

// ask moves what the source has to the empty buffer, and reports whether there is something to read now, or an end.
func (p *pipe) ask(src h2.Source) bool {
	box := pipeBuffers.Get().(*[]byte)
	text, more, err := src.Next((*box)[:0], chunk)
	*box = text
	if len(text) > 0 {
		flushed(src)
	} else {
		release(box)
	}
	p.mu.Lock()
	p.mu.asking = false
	if len(text) > 0 {
		p.mu.buf, p.mu.read = box, 0
	}
	cut := p.mu.end // the reader has gone meanwhile
	if cut == nil && err != nil {
		p.mu.end = endOf(err)
	}
	ended := p.mu.end != nil
	if ended {
		p.mu.src = nil
	}
	p.mu.Unlock()
	if ended {
		p.unhook()
		src.Close(cut)
	}
	return len(text) > 0 || more || ended
}

// flushed tells a source that its data has been written.
func flushed(src h2.Source) {
	if f, ok := src.(h2.Flushed); ok {
		f.Flushed(time.Time{})
	}
}

// endOf returns the end that a reader sees when a source has ended with an error.
func endOf(err error) error {
	if err == http.ErrAbortHandler {
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}
