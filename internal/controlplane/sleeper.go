package controlplane

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/trace"
	"golang.org/x/sync/errgroup"
)

const (
	// idleCheck is the time between two checks of a client side that is awake. idleChecks of them in a row must find it idle
	// before it sleeps. Checks are counted, not time, because a machine that stalls lets time pass without work.
	idleCheck  = 250 * time.Millisecond
	idleChecks = 4
	// shortestSleep is the time until the next delayed key that makes sleep worth while.
	shortestSleep = time.Minute
)

// sleeper runs the client side of a control plane while there is work for it. The client side goes to sleep when the
// revision has stood still and all queues have been empty for idleChecks checks. While it sleeps, controllers, scheduler
// and nodes have no goroutines and no memory. It wakes at a commit, for a connection to a node, and when the first delayed
// key of a queue is ready. Controllers find their work in the objects that they list, so that a start is as good as an
// event.
type sleeper struct {
	store store
	log   *trace.Log
	// run runs the client side until its context ends; the parts call built when their queues are registered.
	run func(ctx context.Context, built func()) error
	// parts is how many parts there are, and building how many of them are not built.
	parts    int
	building *atomic.Int64

	// awake is set from the start of the client side until its end.
	awake atomic.Bool
	mu    struct {
		sync.Mutex
		// group runs the client side, and ctx ends it; nil before begin and after close.
		group *errgroup.Group
		ctx   context.Context
		// holds is how many connections keep it awake.
		holds int
		// stop ends it. asleep is nil, except while it ends, and closed when it has.
		stop   context.CancelFunc
		asleep chan struct{}
		// ended is closed when run has returned.
		ended chan struct{}
		// timer is that of the next check while it is awake, and that of until while it sleeps.
		timer *time.Timer
		until time.Time
		// idle counts the checks in a row that found it idle at revision, at which it sleeps then.
		idle     int
		revision storage.Revision
	}
}

// wakingStore wakes the client side at each commit.
type wakingStore struct {
	store
	sleeper *sleeper
}

// Commit implements storage.Store.
func (s wakingStore) Commit(ctx context.Context, t storage.Txn) (storage.TxnResult, error) {
	res, err := s.store.Commit(ctx, t)
	if res.Changed || err != nil {
		s.sleeper.wake()
	}
	return res, err
}

// begin lets the client side run in group, now or, if r is settled, when there is work.
func (s *sleeper) begin(ctx context.Context, group *errgroup.Group, r idleState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.group, s.mu.ctx = group, ctx
	if r.idle {
		s.mu.revision = s.store.Revision()
		s.sleepUntil(r.until)
	} else {
		s.start()
	}
}

// close ends the timers. The client side ends with its context.
func (s *sleeper) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.group = nil
	if s.mu.timer != nil {
		s.mu.timer.Stop()
	}
}

// idleState returns until when the client side sleeps, the revision since which it does, and whether it does.
func (s *sleeper) idleState() (r idleState, at storage.Revision, asleep bool) {
	if s == nil {
		return idleState{}, 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return idleState{idle: true, until: s.mu.until}, s.mu.revision, !s.awake.Load() && s.mu.group != nil
}

// wake starts the client side if it sleeps.
func (s *sleeper) wake() {
	if s.awake.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start()
}

// hold keeps the client side awake until release is called.
func (s *sleeper) hold(ctx context.Context) (release func(), err error) {
	s.mu.Lock()
	for s.mu.asleep != nil {
		asleep := s.mu.asleep
		s.mu.Unlock()
		select {
		case <-asleep:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	s.mu.holds++
	s.start()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.mu.holds--
	}), nil
}

// start starts the client side if it sleeps; mu is held.
func (s *sleeper) start() {
	if s.mu.group == nil || s.awake.Load() {
		return
	}
	ctx, stop := context.WithCancel(s.mu.ctx)
	ended := make(chan struct{})
	s.mu.stop, s.mu.ended, s.mu.idle = stop, ended, 0
	s.building.Store(int64(s.parts))
	s.awake.Store(true)
	s.mu.group.Go(func() error {
		defer close(ended)
		err := s.run(ctx, func() { s.building.Add(-1) })
		if ctx.Err() != nil {
			return nil // it goes to sleep, or the control plane stops
		}
		return err
	})
	s.arm(idleCheck, s.check)
}

// arm sets the timer; mu is held.
func (s *sleeper) arm(d time.Duration, f func()) {
	if s.mu.timer != nil {
		s.mu.timer.Stop()
	}
	s.mu.timer = time.AfterFunc(d, f)
}

// sleepUntil wakes the client side at a time, unless it is zero; mu is held.
func (s *sleeper) sleepUntil(t time.Time) {
	if s.mu.until = t; !t.IsZero() {
		s.arm(time.Until(t), s.wake)
	}
}

// check puts the client side to sleep if it has been idle for long enough.
func (s *sleeper) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.group == nil {
		return
	}
	a, revision := activityOf(s.log), s.store.Revision()
	if a.busy || a.volatile || a.next < shortestSleep || s.building.Load() > 0 || s.mu.holds > 0 || revision != s.mu.revision {
		s.mu.idle, s.mu.revision = 0, revision
	} else {
		s.mu.idle++
	}
	if s.mu.idle < idleChecks {
		s.arm(idleCheck, s.check)
		return
	}
	s.mu.asleep = make(chan struct{})
	go s.sleep(revision, idleUntil(a.next), s.mu.stop, s.mu.ended)
}

// sleep ends the client side, which is idle at a revision. A commit that comes meanwhile starts it again.
func (s *sleeper) sleep(revision storage.Revision, r idleState, stop context.CancelFunc, ended <-chan struct{}) {
	stop()
	<-ended
	s.log.ForgetQueues()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.awake.Store(false)
	close(s.mu.asleep)
	s.mu.asleep = nil
	if s.store.Revision() != revision {
		s.start()
	} else if s.mu.group != nil {
		s.sleepUntil(r.until)
	}
}
