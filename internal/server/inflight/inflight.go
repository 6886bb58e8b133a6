package inflight

import (
	"cmp"
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// ErrBusy is answered with 429, in the words of kube-apiserver's max-in-flight filter.
var ErrBusy = errors.New("Too many requests, please try again later.")

// The defaults of kube-apiserver, and the bytes that all bodies may take.
const (
	DefaultMaxReads     = 400
	defaultMaxWrites    = 200
	defaultMaxBodyBytes = 128 << 20
)

// Limits bounds the requests in flight and the memory of their bodies. Reads and writes are
// counted apart. A user may have half of each, so one user cannot lock out the others.
//
// Requests of this process and health probes are counted and never refused. So are requests of
// system:masters, except that the memory of their bodies is bounded. Long-running requests
// (watches, logs, exec) are not counted.
type Limits struct {
	reads, writes, bodies Gate // bodies: in bytes

	mu struct {
		sync.Mutex
		of map[string]*share // by user; a user without requests is not in it
	}
}

// share counts the requests and the bytes of bodies of one user.
type share struct{ reads, writes, bodies int64 }

// New bounds reads, writes and the bytes of bodies. 0 means the default of kube-apiserver (for
// bodies 128 MiB), less than 0 no bound.
func New(reads, writes int, bodies int64) *Limits {
	f := &Limits{}
	f.reads.Limit = int64(cmp.Or(reads, DefaultMaxReads))
	f.writes.Limit = int64(cmp.Or(writes, defaultMaxWrites))
	f.bodies.Limit = cmp.Or(bodies, defaultMaxBodyBytes)
	f.mu.of = map[string]*share{}
	return f
}

// Seats returns the sum of the bounds of reads and writes, in which no bound counts as 0.
func Seats(reads, writes int) int {
	return max(0, cmp.Or(reads, DefaultMaxReads)) + max(0, cmp.Or(writes, defaultMaxWrites))
}

// Register registers gauges of the places taken and the bytes held.
func (f *Limits) Register(reg *prometheus.Registry) {
	for kind, g := range map[string]*Gate{"readOnly": &f.reads, "mutating": &f.writes} {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "apiserver_current_inflight_requests", Help: "Requests being served, those that last by nature not counted.",
			ConstLabels: prometheus.Labels{"request_kind": kind},
		}, func() float64 { return float64(g.inside.Load()) }))
	}
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "fairlead_request_body_bytes", Help: "Bytes that the bodies of the requests being served hold.",
	}, func() float64 { return float64(f.bodies.inside.Load()) }))
}

// part picks one of a user's counts.
type part func(*share) *int64

func ofReads(s *share) *int64  { return &s.reads }
func ofWrites(s *share) *int64 { return &s.writes }
func ofBodies(s *share) *int64 { return &s.bodies }

// take adds n to a count of the user unless that would be more than half of limit.
func (f *Limits) take(user string, p part, n, limit int64) bool {
	if limit <= 0 {
		limit = 1 << 62
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.mu.of[user]
	if s == nil {
		s = &share{}
	}
	if at := p(s); *at+n <= (limit+1)/2 {
		*at += n
		f.mu.of[user] = s
		return true
	}
	return false
}

// give takes n off a count of the user.
func (f *Limits) give(user string, p part, n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.mu.of[user]
	if *p(s) -= n; *s == (share{}) {
		delete(f.mu.of, user)
	}
}

// Place is the place of a request in flight: its share of the limits until it has been answered. The zero Place is
// that of a request outside of the limits.
type Place struct {
	of     *Limits
	g      *Gate // nil if the request is not counted
	part   part
	user   string // "" for users without a limit of their own
	bodies int64
}

// Enter takes a place for a request, or fails with ErrBusy. The user "" is never refused.
func (f *Limits) Enter(reads bool, user string) (Place, error) {
	p := Place{of: f, g: &f.writes, part: ofWrites, user: user}
	if reads {
		p.g, p.part = &f.reads, ofReads
	}
	switch {
	case user == "":
		p.g.inside.Add(1)
	case !p.g.Enter():
		return Place{}, ErrBusy
	case !f.take(user, p.part, 1, p.g.Limit):
		p.g.Leave()
		return Place{}, ErrBusy
	}
	return p, nil
}

// Hold adds n bytes to the memory of the request's body, or fails with ErrBusy.
func (p *Place) Hold(n int64) error {
	if p.g == nil {
		return nil
	}
	b := &p.of.bodies
	if total := b.inside.Add(n); b.Limit > 0 && total > b.Limit {
		b.inside.Add(-n)
		return ErrBusy
	}
	if p.user != "" && !p.of.take(p.user, ofBodies, n, b.Limit) {
		b.inside.Add(-n)
		return ErrBusy
	}
	p.bodies += n
	return nil
}

// Leave gives back all that the request holds.
func (p *Place) Leave() {
	if p.g == nil {
		return
	}
	p.g.Leave()
	p.of.bodies.inside.Add(-p.bodies)
	if p.user != "" {
		p.of.give(p.user, p.part, 1)
		if p.bodies > 0 {
			p.of.give(p.user, ofBodies, p.bodies)
		}
	}
	p.g = nil
}

// Taken reports whether the request holds a place.
func (p *Place) Taken() bool { return p.g != nil }
