package trace

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"
)

// Life is the record of one event, for readers.
type Life struct {
	Revision  int64  `json:"revision"`
	Type      string `json:"type,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// Verb, Subresource, User and Agent describe the request that made it; they are "" for
	// the server's own writes.
	Verb        string `json:"verb,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	User        string `json:"user,omitempty"`
	Agent       string `json:"agent,omitempty"`
	// Causes are the revisions of the events that the writer acted on, and Reconcile the
	// number of the reconcile that made the write, or 0.
	Causes    []int64 `json:"causes,omitempty"`
	Reconcile uint64  `json:"work,omitempty"`
	// Trace is the W3C trace ID of the request, or "".
	Trace string `json:"trace,omitempty"`
	// Began is when the first hop was passed; the hops' times count from there.
	Began time.Time `json:"began"`
	Hops  []HopTime `json:"hops"`
	// Topics is the number of watched selections that it matched.
	Topics     int             `json:"topics"`
	Deliveries []Delivery      `json:"deliveries,omitempty"`
	Arrivals   []Arrival       `json:"arrivals,omitempty"`
	Reconciles []LifeReconcile `json:"works,omitempty"`
	// Faults are the injected faults that affected it.
	Faults []InjectedFault `json:"faults,omitempty"`
}

// HopTime is a hop and when it was passed, in nanoseconds after the life's beginning.
type HopTime struct {
	Hop string        `json:"hop"`
	At  time.Duration `json:"at"`
}

// Delivery is an event's way to one client. Flushed is 0 while it has not been written.
type Delivery struct {
	Stream
	Framed  time.Duration `json:"framed"`
	Flushed time.Duration `json:"flushed,omitempty"`
	// Replayed is when the stream was opened, if that was after the event; 0 if it was open.
	Replayed time.Duration `json:"replayed,omitempty"`
}

// After is how long after the event, or after the stream was opened if that was later, the
// delivery was at a time.
func (d *Delivery) After(at time.Duration) time.Duration { return at - d.Replayed }

// Arrival is an event's way into one informer.
type Arrival struct {
	Informer
	Read    time.Duration `json:"read"`
	Decoded time.Duration `json:"decoded"`
	Stored  time.Duration `json:"stored"`
	// Within is the maximum by which these times are late, if they are another process's.
	Within time.Duration `json:"within,omitempty"`
	// Replayed is when the informer's watch began, if that was after the event; 0 if it was
	// open.
	Replayed time.Duration `json:"replayed,omitempty"`
}

// LifeReconcile is one controller's reconcile that an event caused.
type LifeReconcile struct {
	Number     uint64 `json:"number"`
	Controller string `json:"controller"`
	Key        string `json:"key"`
	// Queued, Begun and Ended count from the life's beginning. Queued is 0 without a queue.
	Queued time.Duration `json:"queued,omitempty"`
	Begun  time.Duration `json:"begun"`
	Ended  time.Duration `json:"ended"`
	// Replayed is when the key was queued, if the controller found the object in its first
	// list and did not receive the event, or when its watch was opened, if it received the
	// event by replay; otherwise 0.
	Replayed time.Duration `json:"replayed,omitempty"`
	// Delayed is how long the controller wanted the key to wait before its reconcile.
	Delayed  time.Duration `json:"delayed,omitempty"`
	After    time.Duration `json:"requeueAfter,omitempty"`
	Failures int           `json:"failures,omitempty"`
	Err      string        `json:"error,omitempty"`
	// Conflict reports whether the error is a conflict of resource versions, and the key comes
	// again.
	Conflict bool `json:"conflict,omitempty"`
	// Writes are the revisions that it made.
	Writes []int64 `json:"writes,omitempty"`
	// Process is the reconcile's process, "" for the server's own. The times of another process
	// are late by Within at most.
	Process string        `json:"process,omitempty"`
	Within  time.Duration `json:"within,omitempty"`
}

// Filter selects lives. Empty members select all.
type Filter struct {
	Resource, Namespace, Name string
	// From and To bound the revisions; 0 for no bound.
	From, To int64
	// Since is the earliest beginning.
	Since time.Time
	// Slow selects lives whose Duration is at least this.
	Slow time.Duration
	// Limit is the maximum number of lives, of which the last are kept; 0 for all.
	Limit int
}

func (f *Filter) match(l *Log, lf *life) bool {
	ns, name, ok := strings.Cut(lf.key, "/")
	if !ok {
		ns, name = "", lf.key
	}
	return (f.Resource == "" || f.Resource == lf.resource) && (f.Namespace == "" || f.Namespace == ns) &&
		(f.Name == "" || f.Name == name) && lf.revision >= f.From && (f.To == 0 || lf.revision <= f.To) &&
		(f.Since.IsZero() || !l.Time(lf.first()).Before(f.Since))
}

// first is the earliest stamp.
func (lf *life) first() Instant {
	for h := range Hops {
		if i := lf.at(h); i != 0 {
			return i
		}
	}
	return 0
}

// Reconciles are those that have ended since the call that returned after, in the order of
// their ends; all in the Log if after is 0. next is the value of after for the next call.
func (l *Log) Reconciles(after uint64) (works []Reconcile, next uint64) {
	if l == nil {
		return nil, 0
	}
	return l.reconciles.since(after, func(*Reconcile) bool { return true })
}

// Lives are the selected lives in the order of their revisions, with all that is known
// of them now.
func (l *Log) Lives(f Filter) []Life {
	if l == nil {
		return nil
	}
	kept := l.kept(&f)
	out := make([]Life, len(kept))
	at := make(map[int64]int, len(kept))
	for n := range kept {
		out[n] = l.tell(&kept[n])
		at[kept[n].revision] = n
	}
	l.join(out, kept, at)
	if f.Slow > 0 {
		out = slices.DeleteFunc(out, func(lf Life) bool { return lf.Duration() < f.Slow })
	}
	return out
}

// Lookup returns the life of one event without its deliveries, arrivals, reconciles and faults; ok
// is false if the event is not in the Log.
func (l *Log) Lookup(revision int64) (_ Life, ok bool) {
	if l == nil {
		return Life{}, false
	}
	l.lives.Lock()
	defer l.lives.Unlock()
	if lf := l.lives.find(revision); lf != nil {
		return l.tell(lf), true
	}
	return Life{}, false
}

// kept copies the selected lives.
func (l *Log) kept(f *Filter) []life {
	ls := &l.lives
	ls.Lock()
	defer ls.Unlock()
	var kept []life
	for rev := ls.newest; rev > max(0, ls.newest-ls.room(), f.From-1); rev-- {
		if lf := ls.find(rev); lf != nil && f.match(l, lf) {
			kept = append(kept, *lf)
			if len(kept) == f.Limit {
				break
			}
		}
	}
	slices.Reverse(kept)
	return kept
}

// tell makes a Life of a record, without its deliveries, arrivals and reconciles.
func (l *Log) tell(lf *life) Life {
	began := lf.first()
	out := Life{
		Revision: lf.revision, Type: lf.typ.String(), Resource: lf.resource, Topics: int(lf.topics), Began: l.Time(began),
	}
	var ok bool
	if out.Namespace, out.Name, ok = strings.Cut(lf.key, "/"); !ok {
		out.Namespace, out.Name = "", lf.key
	}
	if w := &lf.write; lf.written {
		out.Verb, out.Subresource, out.User, out.Agent, out.Causes = w.Verb, w.Subresource, w.User, w.Agent, w.Parent.Causes
		out.Trace = w.Parent.ID()
		out.Reconcile = w.Parent.Reconcile()
	}
	for h := range Hops {
		if i := lf.at(h); i != 0 {
			out.Hops = append(out.Hops, HopTime{h.String(), time.Duration(i - began)})
		}
	}
	return out
}

// join adds deliveries, arrivals and reconciles to lives.
func (l *Log) join(out []Life, kept []life, at map[int64]int) {
	if len(kept) == 0 {
		return
	}
	began := func(n int) Instant { return kept[n].first() }
	since := func(n int, i Instant) time.Duration {
		if i == 0 {
			return 0
		}
		return time.Duration(i - began(n))
	}
	// later is when a reader started that did so after the event, 0 for earlier readers.
	later := func(n int, i Instant) time.Duration {
		if i == 0 || i <= max(began(n), kept[n].at(Cached)) {
			return 0
		}
		return since(n, i)
	}
	for _, d := range l.delivered(func(d *delivery) bool { return d.about(kept) }) {
		d.batch.each(func(rev int64) {
			if n, ok := at[rev]; ok {
				out[n].Deliveries = append(out[n].Deliveries, Delivery{
					Stream: *d.stream, Framed: since(n, d.framed), Flushed: since(n, d.flushed), Replayed: later(n, d.stream.opened(l)),
				})
			}
		})
	}
	for _, s := range l.arrivals.copy(nil, func(s *arrival) bool { return at[s.revision] != 0 || kept[0].revision == s.revision }) {
		n := at[s.revision]
		out[n].Arrivals = append(out[n].Arrivals, Arrival{
			Informer: *s.informer, Read: since(n, s.read), Decoded: since(n, s.decoded), Stored: since(n, s.stored),
			Within: s.within, Replayed: later(n, s.opened),
		})
	}
	for _, s := range l.faults.copy(nil, func(s *InjectedFault) bool { return s.Revision != 0 }) {
		if n, ok := at[s.Revision]; ok {
			out[n].Faults = append(out[n].Faults, s)
		}
	}
	writes := l.writes()
	for _, w := range l.reconciles.copy(nil, func(*Reconcile) bool { return true }) {
		for _, rev := range w.Causes {
			if n, ok := at[rev]; ok {
				out[n].Reconciles = append(out[n].Reconciles, LifeReconcile{
					Number: w.Number, Controller: w.Controller, Key: w.Key,
					Queued: since(n, w.Handed), Begun: since(n, w.Begun), Ended: since(n, w.Ended),
					Replayed: cmp.Or(w.listed(since(n, w.Handed)), out[n].replayedTo(w.Process, since(n, cmp.Or(w.Handed, w.Begun)))), Delayed: w.Delay,
					After: w.After, Failures: w.Failures, Err: w.Err, Conflict: w.Conflict, Writes: writes[w.Number],
					Process: w.Process, Within: w.Within,
				})
			}
		}
	}
}

// about reports whether a delivery may contain one of lives, which are sorted.
func (d *delivery) about(lives []life) bool {
	n := sort.Search(len(lives), func(n int) bool { return lives[n].revision >= d.batch.first })
	return n < len(lives) && lives[n].revision <= d.batch.last()
}

// writes are the revisions of each reconcile's writes.
func (l *Log) writes() map[uint64][]int64 {
	ls := &l.lives
	ls.Lock()
	defer ls.Unlock()
	made := map[uint64][]int64{}
	for rev := max(1, ls.newest-ls.room()+1); rev <= ls.newest; rev++ {
		if lf := ls.find(rev); lf != nil {
			if work := lf.write.Parent.Reconcile(); work != 0 {
				made[work] = append(made[work], rev)
			}
		}
	}
	return made
}

// replayedTo is when the watch was opened by whose replay a process received the event
// until a time, 0 if the event reached the process otherwise.
func (lf *Life) replayedTo(process string, until time.Duration) time.Duration {
	var last *Arrival
	for i := range lf.Arrivals {
		if a := &lf.Arrivals[i]; a.Process == process && a.Stored <= until && (last == nil || a.Stored > last.Stored) {
			last = a
		}
	}
	if last == nil {
		return 0
	}
	return last.Replayed
}

// Since is how long after the event, or after the reader started if that was later, the
// reconcile was at a time, without a delay that its controller wanted.
func (w *LifeReconcile) Since(at time.Duration) time.Duration { return at - w.Replayed - w.Delayed }

// Duration is the time from a life's first hop to its last known one. Of a reader that
// received the event by replay, only the duration of the replay counts, and a delay that a
// controller wanted does not count.
func (lf *Life) Duration() time.Duration {
	var last time.Duration
	for _, h := range lf.Hops {
		last = max(last, h.At)
	}
	for _, d := range lf.Deliveries {
		last = max(last, d.After(d.Framed), d.After(d.Flushed))
	}
	for _, a := range lf.Arrivals {
		last = max(last, a.Stored-a.Replayed)
	}
	for _, w := range lf.Reconciles {
		last = max(last, w.Since(w.Ended))
	}
	return last
}
