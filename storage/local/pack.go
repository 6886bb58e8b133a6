package local

import (
	"bytes"
	"fmt"

	"fairlead.dev/internal/delta"
	"fairlead.dev/storage"
)

// A body holds a version's key, revisions and value.
//
// Most of history are states of the same objects, each much like the next. So the value of a
// version that was superseded some time ago is packed: its body is replaced by one that holds only
// the difference to the version after it, some hundred bytes instead of some thousand. A reader
// gets the whole value, and a value once returned does not change.
type body struct {
	kv storage.KeyValue
	// base is the version after this one, if the value is packed.
	base *version
}

const (
	// unpackedEvents is how many of the last events stay unpacked, for cursors that follow the log,
	// and packStep how many are packed in one go.
	unpackedEvents = 256
	packStep       = 256
	// minPackSize is the size of the smallest value that is packed.
	minPackSize = 256
	// maxPackChain bounds how many later versions must be restored to read one: of so many versions
	// of a key one stays whole.
	maxPackChain = 16
)

// whole returns the body's KeyValue with its value restored.
func (b *body) whole() *storage.KeyValue {
	if b.base == nil {
		return &b.kv
	}
	kv := b.kv
	value, err := delta.Apply(b.base.body.Load().whole().Value, kv.Value)
	if err != nil {
		panic(fmt.Sprintf("%s at revision %d: %v", kv.Key, kv.ModRevision, err))
	}
	kv.Value = value
	return &kv
}

// size returns the length of the body's value.
func (b *body) size() int {
	if b.base == nil {
		return len(b.kv.Value)
	}
	return delta.Size(b.kv.Value)
}

// The packer packs the versions in history. Its goroutine follows the log some way behind, so that
// it does not meet writers or close followers.
type packer struct {
	store *Store
	bell  chan struct{}
	stop  chan struct{}
	done  chan struct{}
	// next is the first event whose predecessor has not been examined.
	next    int64
	scratch []byte
}

func startPacker(s *Store) *packer {
	p := &packer{store: s, bell: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go p.run()
	return p
}

func (p *packer) end() {
	close(p.stop)
	<-p.done
}

// published rings the packer when the log has grown by packStep. Store.pub is held.
func (p *packer) published(before, now int64) {
	if before/packStep != now/packStep {
		select {
		case p.bell <- struct{}{}:
		default:
		}
	}
}

func (p *packer) run() {
	defer close(p.done)
	for {
		p.pass()
		select {
		case <-p.bell:
		case <-p.stop:
			return
		}
	}
}

// pass packs all events but the last unpackedEvents. It reads the state again for each packStep of
// them: a state of before a compaction would keep the versions that the compaction removed.
func (p *packer) pass() {
	for p.step() {
	}
}

// step packs at most packStep events, and reports whether there are more.
func (p *packer) step() bool {
	log := p.store.state.Load().log
	p.next = max(p.next, log.first)
	end := log.end - unpackedEvents
	for last := min(p.next+packStep, end); p.next < last; p.next++ {
		v := log.at(p.next)
		p.pack(v.prev.Load(), v)
	}
	return p.next < end
}

// pack packs a version against the next one, if that makes it much smaller.
func (p *packer) pack(v, next *version) {
	if v == nil || v.deleted || next.deleted {
		return
	}
	b := v.body.Load()
	if b.base != nil || len(b.kv.Value) < minPackSize || b.kv.Version%maxPackChain == 0 {
		return
	}
	p.scratch = delta.Append(p.scratch[:0], next.body.Load().whole().Value, b.kv.Value)
	if len(p.scratch) > len(b.kv.Value)/2 {
		return
	}
	kv := b.kv
	kv.Value = bytes.Clone(p.scratch)
	v.body.Store(&body{kv: kv, base: next})
}
