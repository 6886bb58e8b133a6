package local

import (
	"bytes"
	"fmt"

	"fairlead.dev/internal/delta"
	"fairlead.dev/storage"
)

// A body is what a version holds: its key, its revisions and its value.
//
// Most of what history keeps are states of the same objects, each much like the
// next. So the value of a version that was superseded a while ago is packed: its
// body is replaced by one whose value is what tells it from that of the version
// after it, some hundred bytes instead of some thousand. Who reads it gets it
// whole, and whoever has got it keeps what it has.
type body struct {
	kv storage.KeyValue
	// base is the version after this one, if the value is packed.
	base *version
}

const (
	// packBehind is how many of the last events are left as they are, for those
	// who follow the log, and packStep how many are packed in one go.
	packBehind = 256
	packStep   = 256
	// packFrom is the least size of a value that is packed.
	packFrom = 256
	// packRun bounds how many others have to be made whole to read one: each of so
	// many versions of a key stays whole.
	packRun = 16
)

// whole is the body's KeyValue with its value.
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

// size is the length of the body's value.
func (b *body) size() int {
	if b.base == nil {
		return len(b.kv.Value)
	}
	return delta.Size(b.kv.Value)
}

// The packer packs what history keeps. Its goroutine follows the log some way
// behind, so that writers and those who follow closely never meet it.
type packer struct {
	store *Store
	bell  chan struct{}
	stop  chan struct{}
	done  chan struct{}
	// next is the first event whose predecessor has not been looked at.
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

// published tells the packer how far the log is. Store.pub is held.
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

// pass packs up to where the log is to be left as it is.
func (p *packer) pass() {
	log := p.store.state.Load().log
	for p.next = max(p.next, log.first); p.next < log.end-packBehind; p.next++ {
		v := log.at(p.next)
		p.pack(v.prev.Load(), v)
	}
}

// pack packs a version by the one after it, if that makes it much smaller.
func (p *packer) pack(v, next *version) {
	if v == nil || v.deleted || next.deleted {
		return
	}
	b := v.body.Load()
	if b.base != nil || len(b.kv.Value) < packFrom || b.kv.Version%packRun == 0 {
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
