package watchcache

import "sync/atomic"

// A bell has room for one ring. It has no channel until a reader asks for one: a hundred thousand
// watchers that are served by callbacks need no channels. Any goroutine may ring it; its reader
// attaches to it.
type bell struct{ attached atomic.Pointer[ringer] }

// A ringer is the reaction to a ring: a call or, if there is no call, a value in the channel.
type ringer struct {
	call    func()
	channel chan struct{}
}

// rungEarly stands in a bell that was rung before a reader attached.
var rungEarly = new(ringer)

// ring rings the bell.
func (b *bell) ring() {
	r := b.attached.Load()
	for r == nil && !b.attached.CompareAndSwap(nil, rungEarly) {
		r = b.attached.Load()
	}
	switch {
	case r == nil || r == rungEarly:
	case r.call != nil:
		r.call()
	default:
		select {
		case r.channel <- struct{}{}:
		default:
		}
	}
}

// attach makes r the reaction to all rings from now on, and to one that came before any reader
// attached.
func (b *bell) attach(r *ringer) {
	if b.attached.Swap(r) == rungEarly {
		b.ring()
	}
}

// channel attaches a channel to the bell.
func (b *bell) channel() <-chan struct{} {
	r := b.attached.Load()
	if r == nil || r == rungEarly {
		r = &ringer{channel: make(chan struct{}, 1)}
		b.attach(r)
	}
	return r.channel
}
