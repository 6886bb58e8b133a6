package local

import (
	"context"
	"sync"

	"fairlead.dev/internal/storage/mvcc"
	"fairlead.dev/storage"
)

const (
	// unpackedEvents is how many of the last events leave the versions before them unpacked, for
	// cursors that follow the log, and packStep how many are examined in one go.
	unpackedEvents = 256
	packStep       = 256
)

// The packer packs the versions in history, and those that have not been superseded for some time,
// see mvcc.Packer. Its goroutine follows the log some way behind, so that it does not meet writers
// or close followers.
type packer struct {
	published *published
	bell      chan struct{}
	quit      chan struct{}
	done      chan struct{}
	// next is the first event whose predecessor has not been examined, and settled the first one
	// that has not itself.
	next, settled int64
	// scanning: the keys in the tree from the key from on, whose events are not in the log, have not
	// been examined.
	scanning bool
	from     string

	// mu is held for one version at a time.
	mu struct {
		sync.Mutex
		packer mvcc.Packer
	}
}

// startPacker starts a packer that goes on behind the log, where the one of a load has ended.
func startPacker(p *published, before mvcc.Packer) *packer {
	log := p.state.Load().log
	k := &packer{
		published: p, bell: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
		next: log.End, settled: log.End,
	}
	k.mu.packer = before
	go k.run()
	return k
}

func (p *packer) stop() {
	close(p.quit)
	<-p.done
}

// grown rings the packer when the end of the log has passed a multiple of packStep.
func (p *packer) grown(before, after int64) {
	if before/packStep != after/packStep {
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
		case <-p.quit:
			return
		}
	}
}

// pass packs what is old enough. It reads the state again for each packStep: a state of before a
// compaction would keep the versions that the compaction removed.
func (p *packer) pass() {
	for p.step() {
		select {
		case <-p.quit:
			return
		default:
		}
	}
}

// step examines some of the log and of the tree, and reports whether there is more.
func (p *packer) step() bool {
	st := p.published.state.Load()
	more := p.pack(st.log)
	more = p.settle(st) || more
	return p.scan(st) || more
}

func (p *packer) pack(log mvcc.Log) bool {
	p.next = max(p.next, log.First)
	end := log.End - unpackedEvents
	for last := min(p.next+packStep, end); p.next < last; p.next++ {
		v := log.At(p.next)
		p.packOld(v.Prev.Load(), v)
	}
	return p.next < end
}

func (p *packer) packOld(v, next *mvcc.Version) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.packer.Pack(v, next)
}

func (p *packer) packSibling(v *mvcc.Version) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.packer.PackSibling(v)
}

// Pack implements storage.Packer.
func (s *Store) Pack(key string, at storage.Revision) *storage.Packed {
	e, ok := s.published.state.Load().tree.Get(key)
	if !ok {
		return nil
	}
	v := e.Head.Load()
	if v.Deleted || v.KV().ModRevision != at {
		return nil
	}
	s.packer.packSibling(v)
	return v.Packed()
}

// RangePacked implements storage.Packer.
func (s *Store) RangePacked(ctx context.Context, start, end string, at storage.Revision, each func(*storage.Packed)) error {
	return s.published.view(ctx, at, func(st *state, at storage.Revision) {
		st.tree.Ascend(start, func(key string, e *mvcc.Entry) bool {
			if (mvcc.Span{Start: start, End: end}).Below(key) {
				return false
			}
			head, v := e.Head.Load(), e.At(at)
			switch {
			case v == nil:
			case v == head:
				each(v.Packed())
			default: // packed, it would have a base that is packed, too
				each(&storage.Packed{KV: v.Live()})
			}
			return true
		})
	})
}

func (p *packer) settle(st *state) bool {
	if p.settled < st.log.First { // the log was cut before the packer came there
		p.settled, p.scanning, p.from = st.log.First, true, ""
	}
	end := st.log.End - mvcc.Unsettled
	for last := min(p.settled+packStep, end); p.settled < last; p.settled++ {
		v := st.log.At(p.settled)
		if e, ok := st.tree.Get(v.KV().Key); ok && e.Head.Load() == v {
			p.packSibling(v)
		}
	}
	return p.settled < end
}

// scan examines keys whose events are not in the log.
func (p *packer) scan(st *state) bool {
	if !p.scanning {
		return false
	}
	n := 0
	p.scanning = false
	st.tree.Ascend(p.from, func(key string, e *mvcc.Entry) bool {
		if n == packStep {
			p.scanning, p.from = true, key
			return false
		}
		n++
		if v := e.Head.Load(); v.KV().ModRevision <= st.compacted {
			p.packSibling(v)
		}
		return true
	})
	return p.scanning
}
