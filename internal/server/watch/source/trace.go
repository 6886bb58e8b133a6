package source

import (
	"time"

	"fairlead.dev/trace"
	"fairlead.dev/watchcache"
)

// A Trace decorates a source: its events are entered in the trace as they are shown.
type Trace struct {
	Source
	log    *trace.Log
	stream *trace.OpenStream
	// batch has the events of the turn.
	batch trace.Batch
}

// NewTrace returns src with its events traced as those of a client.
func NewTrace(src Source, log *trace.Log, client *trace.Stream) *Trace {
	return &Trace{Source: src, log: log, stream: log.Open(client)}
}

// Client describes the watch. Any goroutine may call it.
func (t *Trace) Client() *trace.Stream { return t.stream.Stream() }

// Reached returns the revision of the last event that the client was sent, 0 before the first. Any
// goroutine may call it.
func (t *Trace) Reached() int64 { return t.stream.Reached() }

// Shown implements Source.
func (t *Trace) Shown(events []watchcache.Event) {
	t.Source.Shown(events)
	for i := range events {
		if rev := int64(events[i].Revision); !t.batch.Add(rev) { // it is full
			t.framed(time.Now())
			t.batch.Add(rev)
		}
	}
}

// End implements Source.
func (t *Trace) End(now time.Time) {
	if !t.batch.Empty() {
		if now.IsZero() {
			now = time.Now()
		}
		t.framed(now)
	}
	t.Source.End(now)
}

func (t *Trace) framed(at time.Time) {
	t.stream.Framed(t.batch, t.log.At(at))
	t.batch = trace.Batch{}
}

// Flushed implements Source.
func (t *Trace) Flushed(at time.Time) {
	t.Source.Flushed(at)
	if at.IsZero() {
		t.stream.Flushed(t.log.Now())
		return
	}
	t.stream.Flushed(t.log.At(at))
}

// Close implements Source.
func (t *Trace) Close() {
	t.stream.Close()
	t.Source.Close()
}
