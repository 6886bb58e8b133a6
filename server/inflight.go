package server

import (
	"cmp"
	"errors"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/internal/server/auth"
)

// errBusy is answered with 429, in the words of kube-apiserver's max-in-flight filter.
var errBusy = errors.New("Too many requests, please try again later.")

// What kube-apiserver has by default, and what all bodies together may take in bytes.
const (
	defaultMaxReads     = 400
	defaultMaxWrites    = 200
	defaultMaxBodyBytes = 128 << 20
)

// inflight bounds what the requests that run at once take of the server: places, of
// which reads and writes have each their own, and the memory of bodies. A user may have
// half of each, so that nobody is shut out by one other.
//
// Requests of this process are counted and never refused, as are health probes; so are
// those of system:masters, but for the memory of their bodies. Requests that last by nature
// (watches, logs, exec) are not counted.
type inflight struct {
	reads, writes, bodies gate // bodies: in bytes

	mu struct {
		sync.Mutex
		of map[string]*share // by user; those that hold nothing are not in it
	}
}

// share is what one user holds.
type share struct{ reads, writes, bodies int64 }

func newInflight(cfg *Config) *inflight {
	f := &inflight{}
	f.reads.limit = int64(cmp.Or(cfg.MaxReads, defaultMaxReads))
	f.writes.limit = int64(cmp.Or(cfg.MaxWrites, defaultMaxWrites))
	f.bodies.limit = cmp.Or(cfg.MaxBodyBytes, defaultMaxBodyBytes)
	f.mu.of = map[string]*share{}
	return f
}

// register shows the places that are taken as gauges.
func (f *inflight) register(reg *prometheus.Registry) {
	for kind, g := range map[string]*gate{"readOnly": &f.reads, "mutating": &f.writes} {
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

// take adds n to what the user holds of a part, if that is no more than half of limit then.
func (f *inflight) take(user string, p part, n, limit int64) bool {
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

// give takes n off what the user holds of a part.
func (f *inflight) give(user string, p part, n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.mu.of[user]
	if *p(s) -= n; *s == (share{}) {
		delete(f.mu.of, user)
	}
}

// place is what a request holds until it has been answered.
type place struct {
	of     *inflight
	g      *gate // nil: none
	part   part
	user   string // "": who is never refused
	bodies int64
}

// enter takes a place for a request, or fails with errBusy.
func (f *inflight) enter(reads bool, user string) (place, error) {
	p := place{of: f, g: &f.writes, part: ofWrites, user: user}
	if reads {
		p.g, p.part = &f.reads, ofReads
	}
	switch {
	case user == "":
		p.g.inside.Add(1)
	case !p.g.enter():
		return place{}, errBusy
	case !f.take(user, p.part, 1, p.g.limit):
		p.g.leave()
		return place{}, errBusy
	}
	return p, nil
}

// Hold adds n bytes to what the request's body takes, or fails with errBusy.
func (p *place) Hold(n int64) error {
	if p.g == nil {
		return nil
	}
	b := &p.of.bodies
	if total := b.inside.Add(n); b.limit > 0 && total > b.limit {
		b.inside.Add(-n)
		return errBusy
	}
	if p.user != "" && !p.of.take(p.user, ofBodies, n, b.limit) {
		b.inside.Add(-n)
		return errBusy
	}
	p.bodies += n
	return nil
}

// leave gives back all that the request holds.
func (p *place) leave() {
	if p.g == nil {
		return
	}
	p.g.leave()
	p.of.bodies.inside.Add(-p.bodies)
	if p.user != "" {
		p.of.give(p.user, p.part, 1)
		if p.bodies > 0 {
			p.of.give(p.user, ofBodies, p.bodies)
		}
	}
	p.g = nil
}

// admitOne takes a place among the requests that run at once.
func (c *call) admitOne() (err error) {
	if c.info.LongRunning() {
		return nil
	}
	user := c.user.Name
	if c.inProcess() || c.user.InGroup(auth.MastersGroup) || !c.info.IsResource && isHealth(c.info.Path) {
		user = ""
	}
	c.place, err = c.s.inflight.enter(c.info.Verb == "get" || c.info.Verb == "list", user)
	return err
}

// inProcess reports whether the request has come by Transport.
func (c *call) inProcess() bool { return c.req.RemoteAddr == inMemory }

// refuseBusy answers with errBusy.
func (c *call) refuseBusy() {
	c.s.metrics.terminated(c, http.StatusTooManyRequests)
	c.w.Header().Set("Retry-After", "1")
	http.Error(c.w, errBusy.Error(), http.StatusTooManyRequests)
}
