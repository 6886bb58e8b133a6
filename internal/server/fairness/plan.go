package fairness

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/utils/ptr"
)

// plan is a configuration in effect. It is not modified, except for the memory of users.
type plan struct {
	schemas []*schema // in the order in which they are tried
	levels  map[string]*level
	users   users
}

// schema is a FlowSchema.
type schema struct {
	name  string
	uid   types.UID
	by    flowcontrolv1.FlowDistinguisherMethodType
	rules []rule
	hash  uint64

	level    *level
	levelUID types.UID
	// queues: the level has several, so that flows are told apart. atMost is its bound of widths, 0 without one.
	queues bool
	atMost int
}

// Set replaces the configuration. Mandatory objects that are missing are added as they are by default. Objects must not be
// modified later. The result has the names of the priority levels in effect.
func (d *Dispatcher) Set(schemas []*flowcontrolv1.FlowSchema, levels []*flowcontrolv1.PriorityLevelConfiguration) map[string]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.schemas, d.mu.levels = schemas, levels
	return d.digest(time.Now())
}

// reap drops levels that are no longer configured and idle.
func (d *Dispatcher) reap() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.digest(time.Now())
}

// digest makes a plan of the configuration; mu is held.
func (d *Dispatcher) digest(t time.Time) map[string]bool {
	wanted := map[string]*flowcontrolv1.PriorityLevelConfiguration{}
	for _, c := range d.mu.levels {
		if sound(c) {
			wanted[c.Name] = c
		}
	}
	known := map[string]bool{}
	for name := range wanted {
		known[name] = true
	}
	for _, c := range bootstrap.MandatoryPriorityLevelConfigurations {
		if wanted[c.Name] == nil {
			wanted[c.Name] = c
		}
	}
	p := &plan{levels: map[string]*level{}}
	shares, objects := 0, map[string]*flowcontrolv1.PriorityLevelConfiguration{}
	add := func(l *level, c *flowcontrolv1.PriorityLevelConfiguration) {
		p.levels[c.Name], objects[c.Name] = l, c
		n, _, _ := sharesOf(c)
		shares += int(n)
	}
	old := d.plan.Load().levels
	for name, c := range wanted {
		l := old[name]
		if l == nil {
			l = newLevel(name, c.Spec.Exempt != nil, t, d.reap)
		}
		add(l, c)
	}
	for name, l := range old {
		if wanted[name] == nil {
			if c := l.quiesce(); c != nil {
				add(l, c)
			}
		}
	}
	d.mu.nominal = 0
	for name, l := range p.levels {
		d.mu.nominal += l.configure(t, objects[name], d.o.Seats, shares, wanted[name] == nil)
	}
	waiting := 0
	for _, c := range objects {
		if limited := c.Spec.Limited; limited != nil && limited.LimitResponse.Queuing != nil {
			waiting += int(limited.LimitResponse.Queuing.Queues * limited.LimitResponse.Queuing.QueueLengthLimit)
		}
	}
	d.traffic.limit(t, waiting, d.mu.nominal)
	p.compile(d.mu.schemas, wanted, d.seed)
	d.adjust(t, p.levels)
	d.plan.Store(p)
	return known
}

// sound reports whether a stored object can be put into effect.
func sound(c *flowcontrolv1.PriorityLevelConfiguration) bool {
	s := &c.Spec
	exempt := s.Type == flowcontrolv1.PriorityLevelEnablementExempt
	if exempt != (s.Exempt != nil) || exempt == (s.Limited != nil) || exempt != (c.Name == flowcontrolv1.PriorityLevelConfigurationNameExempt) {
		return false
	}
	if exempt {
		return true
	}
	r := &s.Limited.LimitResponse
	if r.Queuing == nil {
		return r.Type == flowcontrolv1.LimitResponseTypeReject
	}
	return r.Type == flowcontrolv1.LimitResponseTypeQueue && checkDeal(int(r.Queuing.Queues), int(r.Queuing.HandSize)) == nil
}

// sharesOf returns a level's shares, the percentage that it lends, and that which it may borrow, nil for no bound.
func sharesOf(c *flowcontrolv1.PriorityLevelConfiguration) (shares, lendable int32, borrowing *int32) {
	if e := c.Spec.Exempt; e != nil {
		return ptr.Deref(e.NominalConcurrencyShares, 0), ptr.Deref(e.LendablePercent, 0), nil
	}
	l := c.Spec.Limited
	return ptr.Deref(l.NominalConcurrencyShares, 0), ptr.Deref(l.LendablePercent, 0), l.BorrowingLimitPercent
}

// quiesce marks a level as no longer configured, and returns its object, or nil if it has no requests.
func (l *level) quiesce() *flowcontrolv1.PriorityLevelConfiguration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.quiescing = true; l.mu.idle() {
		return nil
	}
	return l.mu.object
}

// configure puts an object into effect, with its part of the seats, and returns the nominal limit.
func (l *level) configure(t time.Time, c *flowcontrolv1.PriorityLevelConfiguration, seats, shares int, quiescing bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.advance(t)
	mine, lendable, borrowing := sharesOf(c)
	nominal := 0
	if shares > 0 {
		nominal = int(math.Ceil(float64(seats) * float64(mine) / float64(shares)))
	}
	lent := percent(nominal, lendable)
	borrowed := seats
	if borrowing != nil {
		borrowed = percent(nominal, *borrowing)
	}
	if l.mu.object == nil {
		l.mu.limit = nominal - lent/2
	}
	l.mu.object, l.mu.quiescing = c, quiescing
	l.mu.nominal, l.mu.least, l.mu.most = nominal, nominal-lent, nominal+borrowed
	l.mu.deck, l.mu.capacity = 0, 1
	if limited := c.Spec.Limited; limited != nil && limited.LimitResponse.Queuing != nil {
		q := limited.LimitResponse.Queuing
		l.mu.deck, l.mu.hand, l.mu.length = int(q.Queues), int(q.HandSize), int(q.QueueLengthLimit)
		l.mu.capacity = float64(l.mu.deck) * float64(max(1, l.mu.length))
		if n := l.mu.deck - len(l.mu.queues); n > 0 {
			l.mu.queues = append(l.mu.queues, make([]*queue, n)...)
		}
	}
	l.mu.shrink()
	return nominal
}

func percent(of int, p int32) int { return int(math.Round(float64(of) * float64(p) / 100)) }

// compile prepares the FlowSchemas whose level exists.
func (p *plan) compile(all []*flowcontrolv1.FlowSchema, levels map[string]*flowcontrolv1.PriorityLevelConfiguration, seed maphash.Seed) {
	use := slices.DeleteFunc(slices.Clone(all), func(f *flowcontrolv1.FlowSchema) bool { return levels[f.Spec.PriorityLevelConfiguration.Name] == nil })
	slices.SortFunc(use, func(a, b *flowcontrolv1.FlowSchema) int {
		return cmp.Or(cmp.Compare(a.Spec.MatchingPrecedence, b.Spec.MatchingPrecedence), cmp.Compare(a.Name, b.Name))
	})
	has := func(name string) bool {
		return slices.ContainsFunc(use, func(f *flowcontrolv1.FlowSchema) bool { return f.Name == name })
	}
	if f := bootstrap.MandatoryFlowSchemaExempt; !has(f.Name) {
		use = slices.Insert(use, 0, f)
	}
	if f := bootstrap.MandatoryFlowSchemaCatchAll; !has(f.Name) {
		use = append(use, f)
	}
	for _, f := range use {
		c := levels[f.Spec.PriorityLevelConfiguration.Name]
		s := &schema{name: f.Name, uid: f.UID, level: p.levels[c.Name], levelUID: c.UID, hash: maphash.String(seed, "flow schema "+f.Name)}
		if m := f.Spec.DistinguisherMethod; m != nil {
			s.by = m.Type
		}
		if limited := c.Spec.Limited; limited != nil && limited.LimitResponse.Queuing != nil {
			hand := int(limited.LimitResponse.Queuing.HandSize)
			s.queues = limited.LimitResponse.Queuing.Queues > 1
			s.level.mu.Lock()
			nominal := s.level.mu.nominal
			s.level.mu.Unlock()
			s.atMost = max(1, min(int(math.Ceil(widestPart*float64(nominal))), nominal/hand))
		}
		for i := range f.Spec.Rules {
			s.rules = append(s.rules, compileRule(&f.Spec.Rules[i]))
		}
		p.schemas = append(p.schemas, s)
	}
}

// widestPart bounds the width of one request, as a part of its level's nominal limit.
const widestPart = 0.15
