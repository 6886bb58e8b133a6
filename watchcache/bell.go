package watchcache

import "sync/atomic"

// bell has room for one ring. It hangs nowhere until somebody wants to hear it: of a
// hundred thousand watchers whose connections have themselves called, none has a
// channel. Anybody may ring it; it is hung by who hears it.
type bell struct{ hung atomic.Pointer[ringer] }

// ringer is what a ring does: a call, or if there is none a word in the channel.
type ringer struct {
	call    func()
	channel chan struct{}
}

// before stands where a bell was rung before it was hung.
var before = new(ringer)

// ring rings the bell.
func (b *bell) ring() {
	r := b.hung.Load()
	for r == nil && !b.hung.CompareAndSwap(nil, before) {
		r = b.hung.Load()
	}
	switch {
	case r == nil || r == before:
	case r.call != nil:
		r.call()
	default:
		select {
		case r.channel <- struct{}{}:
		default:
		}
	}
}

// hang has all rings from now on do this, and the one that was there before.
func (b *bell) hang(r *ringer) {
	if b.hung.Swap(r) == before {
		b.ring()
	}
}

// channel hangs the bell as a channel.
func (b *bell) channel() <-chan struct{} {
	r := b.hung.Load()
	if r == nil || r == before {
		r = &ringer{channel: make(chan struct{}, 1)}
		b.hang(r)
	}
	return r.channel
}
