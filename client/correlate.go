package client

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// correlator remembers a recorder's last events, to aggregate repeated ones. It is used by
// one goroutine.
type correlator struct {
	records recent[recordKey, *record]
	groups  recent[recordKey, *group]
	budgets recent[recordKey, *budget]
}

// recordKey identifies equal events; in the keys of each memory the fields that do not
// matter to it are empty.
type recordKey struct {
	source               corev1.EventSource
	object               corev1.ObjectReference
	typ, reason, message string
}

// record is one Event on the server.
type record struct {
	name  string // "" if not written yet
	count int32
}

// group is the different messages of one reason about one object.
type group struct {
	messages map[string]struct{}
	last     time.Time
}

// budget is the number of events of a type that may still be written about an object.
// Normal events and warnings have separate budgets.
type budget struct {
	left float64
	at   time.Time
}

const (
	groupMessages = 10               // the different messages from this one on fold into one
	groupWindow   = 10 * time.Minute // a reason silent for so long begins anew
	budgetBurst   = 25
	budgetRefill  = 5 * time.Minute // for one more
	folded        = "(combined from similar events): "
)

// observe returns the record that ev raises, or nil if ev is to be cut. It changes the
// message of an event that is folded into others.
func (c *correlator) observe(ev *corev1.Event) *record {
	object := ev.InvolvedObject
	object.ResourceVersion = ""
	now := ev.LastTimestamp.Time

	key := recordKey{source: ev.Source, object: object, typ: ev.Type}
	b := c.budgets.get(key, func() *budget { return &budget{budgetBurst, now} })
	b.left = min(budgetBurst, b.left+float64(now.Sub(b.at))/float64(budgetRefill))
	b.at = now

	key.reason = ev.Reason
	g := c.groups.get(key, func() *group { return &group{messages: map[string]struct{}{}} })
	if now.Sub(g.last) > groupWindow {
		clear(g.messages)
	}
	g.last = now
	if _, seen := g.messages[ev.Message]; !seen && len(g.messages) >= groupMessages-1 {
		ev.Message = folded + ev.Message // and the key stays without a message
	} else {
		g.messages[ev.Message] = struct{}{}
		key.message = ev.Message
	}
	rec := c.records.get(key, func() *record { return &record{} })
	rec.count++
	if b.left < 1 {
		return nil
	}
	b.left--
	return rec
}

// recent is a map that forgets: of the entries not used lately, between 2048 and 4096
// are kept.
type recent[K comparable, V any] struct {
	young, old map[K]V
}

func (r *recent[K, V]) get(k K, fresh func() V) V {
	if v, ok := r.young[k]; ok {
		return v
	}
	v, ok := r.old[k]
	if !ok {
		v = fresh()
	}
	if r.young == nil || len(r.young) >= 2048 {
		r.young, r.old = map[K]V{}, r.young
	}
	r.young[k] = v
	return v
}
