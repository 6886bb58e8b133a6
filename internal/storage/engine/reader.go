package engine

import (
	"github.com/cockroachdb/pebble/v2"
)

const (
	// A reader passes on batchSize records at a time, or fewer if they take batchBytes, and is at most batchesAhead batches ahead.
	batchSize    = 500
	batchBytes   = 4 << 20
	batchesAhead = 2
)

// reader reads records on a goroutine of its own, since that takes a fifth of the CPU of a load.
type reader struct {
	batches chan recordBatch // none is empty
	err     error            // set before batches is closed
	quit    chan struct{}
	free    chan []byte
}

// recordBatch are records with the memory of their names and values.
type recordBatch struct {
	records []record
	memory  []byte
}

// startReader starts a reader of an iterator, which belongs to the reader until stop has returned.
func startReader(it *pebble.Iterator) *reader {
	r := &reader{batches: make(chan recordBatch, batchesAhead), quit: make(chan struct{}), free: make(chan []byte, 4*batchesAhead)}
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

// reuse takes the memory of a batch for a later one.
func (r *reader) reuse(memory []byte) {
	select {
	case r.free <- memory[:0]:
	default:
	}
}

// next returns an empty batch.
func (r *reader) next() recordBatch {
	b := recordBatch{records: make([]record, 0, batchSize)}
	select {
	case b.memory = <-r.free:
	default:
	}
	return b
}

func (r *reader) read(it *pebble.Iterator) error {
	batch := r.next()
	send := func() (more bool) {
		select {
		case r.batches <- batch:
			batch = r.next()
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
		batch.add(rec)
		if (len(batch.records) == batchSize || len(batch.memory) >= batchBytes) && !send() {
			return nil
		}
	}
	if len(batch.records) > 0 {
		send()
	}
	return it.Error()
}

// add copies a record to the batch.
func (b *recordBatch) add(rec record) {
	rec.name = b.copy(rec.name)
	if !rec.deleted {
		rec.kv.Value = b.copy(rec.kv.Value)
	}
	b.records = append(b.records, rec)
}

func (b *recordBatch) copy(text []byte) []byte {
	n := len(b.memory)
	b.memory = append(b.memory, text...)
	return b.memory[n:len(b.memory):len(b.memory)]
}
