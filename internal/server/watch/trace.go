package watch

import (
	"time"

	"fairlead.dev/trace"
	"fairlead.dev/watchcache"
)

// watchTrace is a source whose events are entered in the trace as they are shown.
type watchTrace struct {
	source
	log *trace.Log
	way *trace.OpenStream
	// batch has the events of the turn.
	batch trace.Batch
}

func (t *watchTrace) shown(events []watchcache.Event) {
	t.source.shown(events)
	for i := range events {
		if rev := int64(events[i].Revision); !t.batch.Add(rev) { // it is full
			t.framed(time.Now())
			t.batch.Add(rev)
		}
	}
}

func (t *watchTrace) end(now time.Time) {
	if !t.batch.Empty() {
		if now.IsZero() {
			now = time.Now()
		}
		t.framed(now)
	}
	t.source.end(now)
}

func (t *watchTrace) framed(at time.Time) {
	t.way.Framed(t.batch, t.log.At(at))
	t.batch = trace.Batch{}
}

func (t *watchTrace) flushed(at time.Time) {
	t.source.flushed(at)
	if at.IsZero() {
		t.way.Flushed(t.log.Now())
		return
	}
	t.way.Flushed(t.log.At(at))
}

func (t *watchTrace) close() {
	t.way.Close()
	t.source.close()
}
