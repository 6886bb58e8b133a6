package local

import "fairlead.dev/internal/storage/mvcc"

const (
	// unpackedEvents is how many of the last events stay unpacked, for cursors that follow the log,
	// and packStep how many are packed in one go.
	unpackedEvents = 256
	packStep       = 256
)

// The packer packs the versions in history, see mvcc.Packer. Its goroutine follows the log some way
// behind, so that it does not meet writers or close followers.
type packer struct {
	published *published
	bell      chan struct{}
	quit      chan struct{}
	done      chan struct{}
	// next is the first event whose predecessor has not been examined.
	next   int64
	packer mvcc.Packer
}

func startPacker(p *published) *packer {
	k := &packer{published: p, bell: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
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

// pass packs all events but the last unpackedEvents. It reads the state again for each packStep of
// them: a state of before a compaction would keep the versions that the compaction removed.
func (p *packer) pass() {
	for p.step() {
	}
}

// step packs at most packStep events, and reports whether there are more.
func (p *packer) step() bool {
	log := p.published.state.Load().log
	p.next = max(p.next, log.First)
	end := log.End - unpackedEvents
	for last := min(p.next+packStep, end); p.next < last; p.next++ {
		v := log.At(p.next)
		p.packer.Pack(v.Prev.Load(), v)
	}
	return p.next < end
}
