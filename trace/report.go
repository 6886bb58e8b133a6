package trace

import (
	"encoding/hex"
	"errors"
	"sync"
	"time"
)

// Path is where a server serves the lives of events, and accepts reports of other
// processes, by POST of a Report in JSON.
const Path = "/debug/lives"

// Report is the content of a process's Log for a server's Log: the events that arrived in
// its informers, and its reconciles. Instants in it are the sender's.
type Report struct {
	// Log identifies the sender's Log; Process is the process's name for people.
	Log     string `json:"log"`
	Process string `json:"process"`
	// Now is when it was sent, and RoundTrip how long the report before took to be answered.
	Now       Instant       `json:"now"`
	RoundTrip time.Duration `json:"roundTrip,omitempty"`
	// From are the numbers of arrivals and reconciles before these. An entry that is sent
	// twice, because a response was lost, is recorded once.
	From [2]uint64 `json:"from"`
	// Arrivals are an informer's place in Informers, the revision, when the event was read,
	// decoded and stored, and when the watch was opened.
	Informers  []Informer  `json:"informers,omitempty"`
	Arrivals   [][6]int64  `json:"sights,omitempty"`
	Reconciles []Reconcile `json:"works,omitempty"`
}

// ReportCursor is how far a Log has been reported.
type ReportCursor struct{ sights, works uint64 }

// Report returns the entries after from, at most most of each kind (fewer reconciles, if
// they have many causes), and the cursor after them; more reports whether there are further
// entries. Entries that have left the Log meanwhile are lost.
func (l *Log) Report(from ReportCursor, most int) (r Report, to ReportCursor, more bool) {
	sights, to, more := l.part(from, most, &r)
	known := map[*Informer]int64{}
	for _, s := range sights {
		n, ok := known[s.informer]
		if !ok {
			n = int64(len(r.Informers))
			known[s.informer] = n
			r.Informers = append(r.Informers, *s.informer)
		}
		r.Arrivals = append(r.Arrivals, [6]int64{n, s.revision, int64(s.read), int64(s.decoded), int64(s.stored), int64(s.opened)})
	}
	r.Log, r.Now = hex.EncodeToString(l.idBytes()), l.Now()
	r.From = [2]uint64{to.sights - uint64(len(r.Arrivals)), to.works - uint64(len(r.Reconciles))}
	return r, to, more
}

func (l *Log) part(from ReportCursor, most int, r *Report) (sights []arrival, to ReportCursor, more bool) {
	var moreSights, moreWorks bool
	sights, to.sights, moreSights = l.arrivals.next(from.sights, most)
	r.Reconciles, to.works, moreWorks = l.reconciles.next(from.works, most)
	if n := fit(r.Reconciles, most*maxPassedCauses); n < len(r.Reconciles) {
		to.works -= uint64(len(r.Reconciles) - n)
		r.Reconciles, moreWorks = r.Reconciles[:n], true
	}
	return sights, to, moreSights || moreWorks
}

// fit is how many of the first reconciles, at least one, have no more causes together than
// the limit.
func fit(works []Reconcile, causes int) int {
	for n := range works {
		if causes -= len(works[n].Causes); causes < 0 && n > 0 {
			return n
		}
	}
	return len(works)
}

// Empty reports whether a report has no entries.
func (r *Report) Empty() bool { return len(r.Arrivals) == 0 && len(r.Reconciles) == 0 }

// ErrClockUnknown is the error of ReceiveReport for a report with entries from a process
// whose clock is not known yet: its first report must be empty.
var ErrClockUnknown = errors.New("trace: the clock of the process is not known yet: its first reports, two at most, must be empty")

// processes are the processes that report. Their number is bounded: a new one replaces the one
// whose last report is the oldest.
type processes struct {
	sync.Mutex
	known map[string]*process
}

const maxProcesses = 256

// maxInformers is how many a process has; each simulated node has one.
const maxInformers = 1 << 13

// process is the clock of a reporting process, relative to the Log's. A report takes no
// longer than its round trip. So the time of its arrival on the Log's clock is late by at
// most that, and never early: an event is never recorded as seen before it was sent.
type process struct {
	// offset makes an instant of its Log one of ours, late by within at most; since is
	// when that was measured, 0 for not yet.
	offset Instant
	within time.Duration
	since  Instant
	// last is the offset by the report before, whose round trip comes with the next.
	last  Instant
	heard Instant
	// next has the numbers of the first arrival and the first reconcile not yet received.
	next [2]uint64
	// informers are the informers in its reports.
	informers map[Informer]*Informer
}

// remeasured is how old a measurement may get before a worse one takes its place: clocks
// drift by some parts in a million.
const remeasured = Instant(time.Minute)

// clock notes a report that came at an instant.
func (p *process) clock(r *Report, at Instant) {
	if trip := r.RoundTrip; trip > 0 && (p.since == 0 || trip <= p.within || at-p.since > remeasured) {
		p.offset, p.within, p.since = p.last, trip, at
	}
	p.last, p.heard = at-r.Now, at
}

// here converts an instant of the process to one of ours; at is the present.
func (p *process) here(i, at Instant) Instant {
	if i <= 0 {
		return 0
	}
	return min(max(1, i+p.offset), at)
}

// informer returns the shared value for an informer of the process.
func (p *process) informer(in Informer) *Informer {
	known := p.informers[in]
	if known == nil {
		if p.informers == nil || len(p.informers) == maxInformers {
			p.informers = map[Informer]*Informer{}
		}
		known = &in
		p.informers[in] = known
	}
	return known
}

// ReceiveReport adds a report to the Log.
func (l *Log) ReceiveReport(r *Report) error {
	if l == nil {
		return nil
	}
	at := l.Now()
	ps := &l.processes
	ps.Lock()
	defer ps.Unlock()
	p := ps.known[r.Log]
	if p == nil {
		p = ps.add(r.Log)
	}
	p.clock(r, at)
	if r.Empty() {
		return nil
	}
	if p.since == 0 {
		return ErrClockUnknown
	}
	for n, s := range r.Arrivals {
		if r.From[0]+uint64(n) < p.next[0] || s[0] < 0 || s[0] >= int64(len(r.Informers)) || s[1] <= 0 {
			continue
		}
		in := r.Informers[s[0]]
		in.Process = r.Process
		l.arrivals.put(arrival{
			revision: s[1], informer: p.informer(in), within: p.within, opened: p.here(Instant(s[5]), at),
			read: p.here(Instant(s[2]), at), decoded: p.here(Instant(s[3]), at), stored: p.here(Instant(s[4]), at),
		})
	}
	for n, w := range r.Reconciles {
		if r.From[1]+uint64(n) < p.next[1] {
			continue
		}
		w.Process, w.Within = r.Process, p.within
		w.Handed, w.Begun, w.Ended = p.here(w.Handed, at), p.here(w.Begun, at), p.here(w.Ended, at)
		w.Causes = w.Causes[:min(len(w.Causes), MaxCauses)]
		l.reconciles.put(w)
	}
	p.next = [2]uint64{max(p.next[0], r.From[0]+uint64(len(r.Arrivals))), max(p.next[1], r.From[1]+uint64(len(r.Reconciles)))}
	l.bell.ring()
	return nil
}

func (ps *processes) add(id string) *process {
	if ps.known == nil {
		ps.known = map[string]*process{}
	}
	if len(ps.known) == maxProcesses {
		var quiet string
		for id, p := range ps.known {
			if quiet == "" || p.heard < ps.known[quiet].heard {
				quiet = id
			}
		}
		delete(ps.known, quiet)
	}
	p := &process{}
	ps.known[id] = p
	return p
}

// HasReports reports whether other processes have sent a report during the last minute.
func (l *Log) HasReports() bool {
	ps := &l.processes
	ps.Lock()
	defer ps.Unlock()
	for _, p := range ps.known {
		if l.Now()-p.heard < Instant(time.Minute) {
			return true
		}
	}
	return false
}

// next is most entries from a number on at most, the number behind them, and whether there
// are more.
func (r *ring[T]) next(first uint64, most int) (found []T, end uint64, more bool) {
	r.Lock()
	defer r.Unlock()
	if r.end > r.room() {
		first = max(first, r.end-r.room())
	}
	for end = first; end < r.end && len(found) < most; end++ {
		found = append(found, *r.at(end))
	}
	return found, end, end < r.end
}
