package engine

import (
	"github.com/cockroachdb/pebble/v2"
)

// batchSize is how many records a reader passes on at a time, and batchesAhead how many batches it is ahead: a value has some KB.
const (
	batchSize    = 500
	batchesAhead = 2
)

// reader reads records on a goroutine of its own, since decompressing them takes half of the time of a load.
type reader struct {
	batches chan []record // none is empty
	err     error         // set before batches is closed
	quit    chan struct{}
}

// startReader starts a reader of an iterator, which belongs to the reader until stop has returned.
func startReader(it *pebble.Iterator) *reader {
	r := &reader{batches: make(chan []record, batchesAhead), quit: make(chan struct{})}
	go func() {
		defer close(r.batches)
		r.err = r.read(it)
	}()
	return r
}

// stop ends the reader, and waits for its end.
func (r *reader) stop() {
	close(r.quit)
	for range r.batches {
	}
}

func (r *reader) read(it *pebble.Iterator) error {
	var batch []record
	var names []byte
	send := func() (more bool) {
		select {
		case r.batches <- batch:
			batch, names = make([]record, 0, batchSize), make([]byte, 0, len(names))
			return true
		case <-r.quit:
			return false
		}
	}
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		rec, err := decodeRecord(it.Key(), value)
		if err != nil {
			return err
		}
		n := len(names)
		names = append(names, rec.name...)
		rec.name = names[n:]
		if !rec.deleted {
			rec.kv.Value = append(make([]byte, 0, len(rec.kv.Value)), rec.kv.Value...)
		}
		if batch = append(batch, rec); len(batch) == batchSize && !send() {
			return nil
		}
	}
	if len(batch) > 0 {
		send()
	}
	return it.Error()
}
