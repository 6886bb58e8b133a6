package leader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
)

// Timing of an election; zero fields are kube-controller-manager's defaults.
type Timing struct {
	// LeaseDuration is how long a lease that is not renewed excludes other candidates, in
	// whole seconds, which is the unit of the Lease's field. 15 s.
	LeaseDuration time.Duration
	// RenewDeadline is how long the holder tries to renew before it gives up; less
	// than LeaseDuration. 10 s.
	RenewDeadline time.Duration
	// RetryPeriod is the pause between two tries. 2 s.
	RetryPeriod time.Duration
}

func (t Timing) orDefaults() Timing {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&t.LeaseDuration, 15*time.Second)
	set(&t.RenewDeadline, 10*time.Second)
	set(&t.RetryPeriod, 2*time.Second)
	return t
}

// Check returns an error if the timing is not valid.
func (t Timing) Check() error {
	switch t = t.orDefaults(); {
	case t.LeaseDuration < time.Second:
		return errors.New("the lease duration must be at least a second")
	case t.RenewDeadline >= t.LeaseDuration:
		return errors.New("the renew deadline must be shorter than the lease duration")
	case t.RetryPeriod <= 0 || t.RetryPeriod >= t.RenewDeadline:
		return errors.New("the retry period must be shorter than the renew deadline")
	}
	return nil
}

// Candidate is a process that wants to hold a lease.
type Candidate struct {
	// Namespace and Name are the lease's. It is created if it is not there.
	Namespace, Name string
	// Identity distinguishes this process from all others.
	Identity string
	Timing   Timing
	// Coordinated, if not nil, leaves it to the API server to choose the holder among the candidates.
	Coordinated *Coordinated
	// Record, if not nil, makes the end of the holder's process known before the lease has run out, and prevents writes of a former holder.
	Record Record
	// Log receives gain and loss of the lease; nil is slog.Default.
	Log *slog.Logger
}

// Record is a record of the holder beside the lease, in a store that the candidates share. Its methods may be called from any
// goroutine.
type Record interface {
	// Hold records the candidate as the holder, which has won the lease by the write that gave it the resourceVersion, and returns
	// the context in which it works. That ends with ctx, and when another process is recorded as the holder, whose
	// work begins only after writes in that context have become impossible. end is called after the work.
	Hold(ctx context.Context, resourceVersion string) (work context.Context, end func(), err error)
	// Gone reports whether a process is recorded as the holder but does not run any more, or has lost its connection to the store.
	Gone(identity string) bool
	// Changed returns a channel that is closed when the record changes.
	Changed() <-chan struct{}
}

// ErrDeposed is the error of a leader's write that was not sent, because the lease has not
// been renewed for so long that another process may hold it.
var ErrDeposed = errors.New("leader election: the lease may be another's by now")

// Run does work whenever this candidate holds the lease, until ctx ends; then it releases
// the lease, so that another candidate can take it at once. The context of work ends when
// the lease is lost; the error of work is then ignored, and the candidate runs again. If
// work returns earlier, Run releases the lease and returns its error.
//
// The context of work is fenced by client.WithWriteGuard: writes with it fail with
// ErrDeposed once the lease has run out by either clock of this machine, also if the
// process slept and has not noticed yet. A write that was sent earlier may still arrive
// later: only a check by the server, of a resourceVersion, prevents that, or a Record.
func Run(ctx context.Context, c *client.Client, who Candidate, work func(context.Context) error) error {
	if err := who.Timing.Check(); err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	if who.Log == nil {
		who.Log = slog.Default()
	}
	who.Timing = who.Timing.orDefaults()
	e := &election{who: who, leases: client.For[*coordinationv1.Lease](c).Namespace(who.Namespace)}
	if who.Coordinated != nil {
		defer stand(ctx, c, who)()
	}
	for e.acquire(ctx) {
		who.Log.Info("became the leader", "lease", who.Name, "identity", who.Identity)
		if ended, err := e.lead(ctx, work); ended {
			return err
		}
		who.Log.Warn("lost the lease", "lease", who.Name, "identity", who.Identity)
	}
	return nil
}

// election is one Run. It lives on one goroutine.
type election struct {
	who    Candidate
	leases client.Resource[*coordinationv1.Lease]
	// seen is the lease as last read or written, and since when it has stood so by
	// our clock.
	seen  *coordinationv1.Lease
	since time.Time
	// held is when the request that last won or renewed the lease was begun: the lease
	// is ours for LeaseDuration from then. It is the one field that others read.
	held atomic.Pointer[time.Time]
}

// checkLease returns an error if the lease has run out. The monotonic clock stands still while
// the machine sleeps, and the wall clock may be set: the later of the two counts.
func (e *election) checkLease() error {
	held := *e.held.Load()
	if age := max(time.Since(held), time.Now().Round(0).Sub(held.Round(0))); age >= e.who.Timing.LeaseDuration {
		return ErrDeposed
	}
	return nil
}

// acquire waits until the lease is held; false if ctx ends first.
func (e *election) acquire(ctx context.Context) bool {
	for ctx.Err() == nil {
		var changed <-chan struct{}
		if e.who.Record != nil {
			changed = e.who.Record.Changed()
		}
		held, err := e.tryAcquire(ctx)
		if held {
			return true
		}
		if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
			e.who.Log.Debug("the lease can't be had", "lease", e.who.Name, "error", err)
		}
		// Candidates that started together should not ask together for ever.
		pause := e.who.Timing.RetryPeriod
		pause += rand.N(pause/5 + 1)
		if e.seen != nil && e.gone() {
			if left := time.Until(e.since.Add(e.lasts())); left > 0 {
				pause = min(pause, left)
			}
		}
		select {
		case <-time.After(pause):
		case <-changed:
		case <-ctx.Done():
		}
	}
	return false
}

// gone reports whether the holder's process has ended without giving the lease up. In a coordinated election the server notices that by
// itself.
func (e *election) gone() bool {
	holder := ptr.Deref(e.seen.Spec.HolderIdentity, "")
	return e.who.Record != nil && e.who.Coordinated == nil && holder != "" && holder != e.who.Identity && e.who.Record.Gone(holder)
}

// lasts returns how long the lease excludes other candidates since it was seen to change. That of a process that is gone does so for the time
// in which a living one renews it.
func (e *election) lasts() time.Duration {
	lasts := time.Duration(ptr.Deref(e.seen.Spec.LeaseDurationSeconds, 0)) * time.Second
	if e.gone() {
		return min(lasts, e.who.Timing.RetryPeriod)
	}
	return lasts
}

// lead does the work and renews the lease meanwhile. ended reports whether Run should
// return.
func (e *election) lead(ctx context.Context, work func(context.Context) error) (ended bool, err error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	if e.who.Record != nil {
		recorded, end, err := e.who.Record.Hold(inner, e.seen.ResourceVersion)
		if err != nil {
			e.who.Log.Warn("the holder of the lease was not recorded", "lease", e.who.Name, "error", err)
			select {
			case <-time.After(e.who.Timing.RetryPeriod):
			case <-ctx.Done():
			}
			return ctx.Err() != nil, nil
		}
		defer end()
		inner = recorded
	}
	done := make(chan error, 1)
	go func() { done <- work(client.WithWriteGuard(inner, e.checkLease)) }()
	renewed := *e.held.Load()
	tick := time.NewTicker(e.who.Timing.RetryPeriod)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if inner.Err() != nil && ctx.Err() == nil {
				return false, nil // another process is the holder
			}
			e.release(ctx)
			return true, err
		case <-ctx.Done():
			err := <-done
			e.release(ctx)
			return true, err
		case <-tick.C:
		}
		try, cancel := context.WithDeadline(ctx, renewed.Add(e.who.Timing.RenewDeadline))
		held, err := e.tryAcquire(try)
		cancel()
		switch {
		case held:
			renewed = *e.held.Load()
			continue
		case err != nil && time.Since(renewed) < e.who.Timing.RenewDeadline:
			continue // a server that was away for a moment
		}
		stop()
		<-done
		if e.who.Coordinated != nil {
			e.release(ctx) // for the candidate that the server prefers
		}
		return ctx.Err() != nil, nil
	}
}

// tryAcquire takes or renews the lease, unless another process holds it.
func (e *election) tryAcquire(ctx context.Context) (held bool, err error) {
	if e.who.Coordinated != nil {
		return e.tryElected(ctx)
	}
	now := time.Now()
	if e.seen == nil || ptr.Deref(e.seen.Spec.HolderIdentity, "") != e.who.Identity {
		lease, err := e.leases.Get(ctx, e.who.Name)
		if apierrors.IsNotFound(err) {
			lease, err := e.leases.Create(ctx, e.claim(&coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Name: e.who.Name, Namespace: e.who.Namespace}}, now))
			return e.recordWrite(lease, now, err)
		}
		if err != nil {
			return false, err
		}
		if e.seen == nil || e.seen.ResourceVersion != lease.ResourceVersion {
			e.seen, e.since = lease, now
		}
	}
	if holder := ptr.Deref(e.seen.Spec.HolderIdentity, ""); holder != "" && holder != e.who.Identity {
		if now.Before(e.since.Add(e.lasts())) {
			return false, nil
		}
	}
	lease, err := e.leases.Update(ctx, e.claim(e.seen.DeepCopy(), now))
	held, err = e.recordWrite(lease, now, err)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		e.seen = nil // another process was faster: read the lease before the next try
	}
	return held, err
}

func (e *election) recordWrite(lease *coordinationv1.Lease, begun time.Time, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	e.seen, e.since = lease, time.Now()
	e.held.Store(&begun)
	return true, nil
}

// claim writes the candidate into the lease.
func (e *election) claim(lease *coordinationv1.Lease, now time.Time) *coordinationv1.Lease {
	s := &lease.Spec
	at := metav1.NewMicroTime(now)
	if before := ptr.Deref(s.HolderIdentity, ""); before != e.who.Identity {
		if before != "" || s.AcquireTime != nil {
			s.LeaseTransitions = ptr.To(ptr.Deref(s.LeaseTransitions, 0) + 1)
		} else {
			s.LeaseTransitions = ptr.To(int32(0))
		}
		s.AcquireTime = &at
	}
	s.HolderIdentity, s.RenewTime = &e.who.Identity, &at
	s.LeaseDurationSeconds = ptr.To(int32(e.who.Timing.LeaseDuration / time.Second))
	s.Strategy, s.PreferredHolder = nil, nil // of a coordinated election
	return lease
}

// releasePatience limits the release of the lease at the end of Run.
const releasePatience = 2 * time.Second

// release gives the lease up, so that the next candidate need not wait it out. It reads the
// lease first: a renewal that the end of ctx interrupted may have been stored all the same.
func (e *election) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releasePatience)
	defer cancel()
	err := client.RetryOnConflict(ctx, func() error {
		lease, err := e.leases.Get(ctx, e.who.Name)
		if err != nil || ptr.Deref(lease.Spec.HolderIdentity, "") != e.who.Identity {
			return client.IgnoreNotFound(err) // another process holds it by now
		}
		lease = lease.DeepCopy()
		lease.Spec.HolderIdentity = ptr.To("")
		lease.Spec.LeaseDurationSeconds = ptr.To(int32(1))
		lease.Spec.RenewTime = ptr.To(metav1.NowMicro())
		lease.Spec.Strategy, lease.Spec.PreferredHolder = nil, nil // which the next election sets
		_, err = e.leases.Update(ctx, lease)
		return err
	})
	if err != nil {
		e.who.Log.Debug("the lease was not given up", "lease", e.who.Name, "error", err)
	}
}
