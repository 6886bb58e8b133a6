package fairness

import (
	"context"
	"hash/maphash"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/request"
)

// Options configure a Dispatcher.
type Options struct {
	// Seats are those of all levels together.
	Seats int
	// Objects describes the stored objects of a resource; ok is false if it is not stored here.
	Objects func(group, resource string) (o Objects, ok bool)
	// Waiting, if not nil, is called when a request begins to wait for its seats.
	Waiting func()
}

// Dispatcher gives requests their seats; see the package comment.
type Dispatcher struct {
	o    Options
	seed maphash.Seed
	plan atomic.Pointer[plan]
	// watches counts the open watches, which make writes wider.
	watches watches
	traffic *traffic

	// ticking: the timer of the next adjustment is set.
	ticking atomic.Bool
	mu      struct {
		sync.Mutex
		schemas []*flowcontrolv1.FlowSchema
		levels  []*flowcontrolv1.PriorityLevelConfiguration
		// nominal is the sum of the levels' nominal limits, and fair the last adjustment's factor.
		nominal int
		fair    float64
		// adjusted is when limits were adjusted last. quiet: there was no request in the period before it.
		adjusted time.Time
		quiet    bool
	}
}

// New returns a dispatcher with the mandatory configuration.
func New(o Options) *Dispatcher {
	d := &Dispatcher{o: o, seed: maphash.MakeSeed(), traffic: newTraffic(time.Now(), o.Waiting)}
	d.watches.count = map[watched]int{}
	d.plan.Store(&plan{})
	d.mu.adjusted = time.Now()
	d.Set(nil, nil)
	return d
}

// Request is a request as it asks for seats.
type Request struct {
	User *auth.User
	// Info must not change while the request runs.
	Info  *request.Info
	Query url.Values
	// Arrived is when it came, and Patience how long it may wait.
	Arrived  time.Time
	Patience time.Duration
}

// Class is how a request is classified: the UIDs of its FlowSchema and priority level.
type Class struct{ Schema, Level types.UID }

// Enter classifies a request and returns when it has its seats, or with a *Refusal. Without an error the caller must leave
// the seat.
func (d *Dispatcher) Enter(ctx context.Context, r Request) (*Seat, Class, error) {
	if !d.ticking.Load() {
		d.wake(r.Arrived)
	}
	f, flow := d.plan.Load().match(r.User, r.Info)
	l := f.level
	class := Class{f.uid, f.levelUID}
	s := &Seat{level: l, arrival: time.Now(), watch: r.Info.Verb == "watch", user: r.User, info: r.Info, flow: flow, traffic: d.traffic, kind: mutating}
	if r.Info.ReadOnly() {
		s.kind = readOnly
	}
	var hash uint64
	if f.queues {
		hash = f.hash ^ maphash.String(d.seed, flow)
	}
	var watchers int
	s.width, watchers = d.width(r, f.atMost)
	if err := l.enter(ctx, s, entry{f.name, hash, watchers, r.Patience}); err != nil {
		return nil, class, err
	}
	s.traffic.add(executingPhase, s.kind, 1)
	return s, class, nil
}

// width returns the width of a request, and for a write the number of watchers, else -1.
func (d *Dispatcher) width(r Request, atMost int) (Width, int) {
	switch in := r.Info; in.Verb {
	case "list", "watch":
		return listWidth(Listed(in, r.Query, d.o.Objects).Bytes(), atMost), -1
	case "create", "update", "patch", "delete":
		if in.Resource == "serviceaccounts" && in.Subresource == "token" { // which is no change
			return Width{Initial: 1}, -1
		}
		n := d.watches.interested(in)
		return writeWidth(n, atMost), n
	}
	return Width{Initial: 1}, -1
}
