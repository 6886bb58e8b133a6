package clusters

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/storage"
)

// cluster is a control plane that starts, runs or is being reset.
type cluster struct {
	host *Host
	name string
	// place has its address and its log, and all else that it does not take from a state.
	place controlplane.Place
	// began is the state in which it began.
	began *state
	// running is nil while it does not run.
	running atomic.Pointer[controlplane.ControlPlane]
	// failed is called when a part of the running control plane has failed.
	failed func()

	mu struct {
		sync.Mutex
		// halt stops the running control plane; nil before the start and after the end.
		halt func() error
		// last is the state of which forks were made most recently.
		last *state
	}
}

// state is a frozen state that several clusters share; the last one that releases it closes it.
type state struct {
	*controlplane.Frozen
	revision storage.Revision
	users    *atomic.Int64
}

func newState(f *controlplane.Frozen) *state {
	s := &state{Frozen: f, revision: f.Revision(), users: new(atomic.Int64)}
	s.users.Store(1)
	return s
}

// share returns the state for another user, with keys of its own.
func (s *state) share() (*state, error) {
	own, err := s.WithOwnKeys()
	if err != nil {
		return nil, err
	}
	s.users.Add(1)
	return &state{own, s.revision, s.users}, nil
}

func (s *state) release() error {
	if s == nil || s.users.Add(-1) > 0 {
		return nil
	}
	return s.Close()
}

// start starts the control plane with its first state.
func (c *cluster) start(ctx context.Context) error {
	cp, err := c.began.Fork(ctx, c.place)
	if err != nil {
		return err
	}
	c.run(cp)
	return nil
}

// run makes cp the running control plane.
func (c *cluster) run(cp *controlplane.ControlPlane) {
	c.mu.Lock()
	defer c.mu.Unlock()
	watching, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cp.Wait(watching) // halt returns the error, too
		if watching.Err() == nil {
			c.running.Store(nil)
			c.failed()
		}
	}()
	c.mu.halt = func() error {
		stop()
		<-done
		return cp.Stop()
	}
	c.running.Store(cp)
}

// halt stops the control plane, if it runs.
func (c *cluster) halt() error {
	c.running.Store(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.halt == nil {
		return nil
	}
	defer func() { c.mu.halt = nil }()
	return c.mu.halt()
}

// stop ends the cluster for good, and frees its states.
func (c *cluster) stop() error {
	err := c.halt()
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.mu.last
	c.mu.last = nil
	return errors.Join(err, last.release(), c.began.release())
}

// reset goes back to the first state.
func (c *cluster) reset(ctx context.Context) error {
	if err := c.halt(); err != nil {
		c.host.options.Log.Warn("a hosted cluster has ended with an error", "cluster", c.name, "error", err)
	}
	return c.start(ctx)
}

// beganAt reports whether the cluster began at a revision.
func (c *cluster) beganAt(r storage.Revision) bool { return c.began != nil && c.began.revision == r }

var errNotRunning = errors.New("is not running")

// snapshot returns the state at a revision for a fork; 0 is the current revision. Forks of the same revision share memory.
// The revision at which the cluster began is always kept.
func (c *cluster) snapshot(ctx context.Context, at storage.Revision) (*state, error) {
	if c.beganAt(at) {
		return c.began.share()
	}
	cp := c.running.Load()
	if cp == nil {
		return nil, errNotRunning
	}
	_, want, keeps := cp.Revisions()
	if !keeps {
		return nil, permanent{errors.New("a control plane on etcd cannot be forked")}
	}
	if at != 0 {
		want = at
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if last := c.mu.last; last == nil || last.revision != want {
		f, err := cp.Snapshot(ctx, at)
		if err != nil {
			return nil, err
		}
		if err := last.release(); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		c.mu.last = newState(f)
	}
	return c.mu.last.share()
}
