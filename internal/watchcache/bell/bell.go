// Package bell is the bell by which a reader of a log learns of new items.
package bell

import "sync/atomic"

// A Bell has room for one ring. It has no channel until a reader asks for one: a hundred thousand
// watchers that are served by callbacks need no channels. Any goroutine may ring it; its reader
// attaches to it by OnRing or Channel. The zero Bell is silent.
type Bell struct{ attached atomic.Pointer[ringer] }

// A ringer is the reaction to a ring: a call or, if there is no call, a value in the channel.
type ringer struct {
	call    func()
	channel chan struct{}
}

// rungEarly stands in a bell that was rung before a reader attached.
var rungEarly = new(ringer)

// Ring rings the bell.
func (b *Bell) Ring() {
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

// OnRing makes f the reaction to all rings from now on, and to one that came before any reader
// attached.
func (b *Bell) OnRing(f func()) { b.attach(&ringer{call: f}) }

// Channel returns the channel that is signalled by a ring. It is the reaction from now on.
func (b *Bell) Channel() <-chan struct{} {
	r := b.attached.Load()
	if r == nil || r == rungEarly {
		r = &ringer{channel: make(chan struct{}, 1)}
		b.attach(r)
	}
	return r.channel
}

func (b *Bell) attach(r *ringer) {
	if b.attached.Swap(r) == rungEarly {
		b.Ring()
	}
}
