package trace

import (
	"context"
	"encoding/binary"
	"time"
)

// arrival is one event that has arrived in one informer.
type arrival struct {
	revision                      int64
	informer                      *Informer
	opened, read, decoded, stored Instant
	// within is the maximum by which the instants are late, if they are another process's.
	within time.Duration
}

// Informer is one informer, for the record. It must not be changed once it has been
// given to a Log.
type Informer struct {
	// Agent is its client's user agent.
	Agent string `json:"agent,omitempty"`
	// Resource is "plural.group" as far as the informer knows it.
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Labels    string `json:"labelSelector,omitempty"`
	Fields    string `json:"fieldSelector,omitempty"`
	// Process is the one that it runs in, "" for the Log's own.
	Process string `json:"process,omitempty"`
}

// Arrived records that an informer has read, decoded and stored an event of a watch that it
// opened at an instant, 0 for not known.
func (l *Log) Arrived(in *Informer, rev int64, opened, read, decoded, stored Instant) {
	if l == nil || l.muted.Load() {
		return
	}
	l.arrivals.put(arrival{revision: rev, informer: in, opened: opened, read: read, decoded: decoded, stored: stored})
	l.bell.ring()
}

// Reconcile is one key's way through one controller: from the first event that put it into
// the queue to the end of its reconcile.
type Reconcile struct {
	// Number identifies the reconcile. Its writes carry it as their span.
	Number uint64
	// Controller is the controller's name, Key the reconciled key.
	Controller, Key string
	// Causes are the revisions of the events that queued the key, at most MaxCauses; empty
	// if the controller queued the key itself.
	Causes []int64
	// Handed is when the handler was given the first event and queued the key; Begun and
	// Ended are the reconcile's.
	Handed, Begun, Ended Instant
	// Delay is how long the controller wanted the key to wait, of the time since Handed.
	Delay time.Duration
	// Listed reports whether the causes are of objects in the controller's first list.
	Listed bool
	// After is the requeue delay that the controller asked for, or 0; Failures the number of
	// consecutive failures of the key; Err the error.
	After    time.Duration
	Failures int
	Err      string
	// Conflict reports whether Err is a conflict of resource versions. Another writer was
	// first, and the key is retried; this does not count as a failure.
	Conflict bool
	// Process is the reconcile's process, "" for the Log's own. The instants of another process
	// are late by Within at most.
	Process string
	Within  time.Duration
}

// listed is d if the causes were listed, else 0.
func (w *Reconcile) listed(d time.Duration) time.Duration {
	if !w.Listed {
		return 0
	}
	return d
}

// MaxCauses limits the causes of a reconcile: the first ones and the last are kept. It is
// far above the number of events that queue a key of a busy controller, so each event's
// life has every reconcile that it caused. The writes of a reconcile carry fewer.
const MaxCauses = 1024

// Do runs f as a reconcile, whose Controller, Key, Causes and Handed are set, and records
// it. Requests with f's context carry the reconcile as their parent. f may set After,
// Failures and Conflict. On a nil Log it only runs f.
func (l *Log) Do(ctx context.Context, w *Reconcile, f func(context.Context) error) error {
	if l == nil || l.muted.Load() && !l.metered {
		return f(ctx)
	}
	w.Number = l.lastReconcile.Add(1)
	p := &Parent{Span: w.Number, Causes: passedCauses(w.Causes)}
	binary.BigEndian.PutUint64(p.Trace[:8], l.id)
	binary.BigEndian.PutUint64(p.Trace[8:], w.Number)
	w.Begun, w.Err = l.Now(), "panic"
	defer func() {
		w.Ended = l.Now()
		l.reconciles.put(*w)
		l.bell.ring()
	}()
	err := f(WithParent(ctx, p))
	if w.Err = ""; err != nil {
		w.Err = err.Error()
	}
	return err
}
