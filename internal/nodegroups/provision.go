package nodegroups

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// nodeWriters is how many Nodes are created at a time.
const nodeWriters = 16

// provision begins instances and makes Nodes of them when their time has come, until ctx ends.
func (gs *Groups) provision(ctx context.Context) {
	for ctx.Err() == nil {
		var wake time.Time
		for i := range gs.options.File.Groups {
			g := &gs.options.File.Groups[i]
			err := gs.turn(ctx, func(all map[string]*state) error {
				next, err := gs.advance(ctx, g, all)
				wake = earlier(wake, next)
				return err
			})
			if err != nil && ctx.Err() == nil {
				gs.env.Log.Warn("provisioning a node group", "group", g.Name, "err", err)
				wake = earlier(wake, time.Now().Add(retryAfter))
			}
		}
		var due <-chan time.Time
		if !wake.IsZero() {
			due = time.After(time.Until(wake))
		}
		select {
		case <-due:
		case <-gs.changed:
		case <-ctx.Done():
		}
	}
}

// earlier returns the earlier of two times, of which a zero one is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// advance takes all steps of a group's instances that are due, and returns when the next is; zero if only a change of the group
// can bring one.
func (gs *Groups) advance(ctx context.Context, g *Group, all map[string]*state) (wake time.Time, err error) {
	if len(all[g.Name].Instances) == 0 {
		return wake, nil
	}
	s := all[g.Name].clone()
	nodes, err := gs.nodesOf(ctx, g, s)
	if err != nil {
		return wake, err
	}
	now := time.Now()
	failed, changed, wake := g.draw(s, len(nodes), gs.options.File.Seed, now)
	if changed {
		if err := gs.keep(ctx, g, s, all); err != nil {
			return wake, err
		}
	}
	for _, i := range failed {
		f := i.failure()
		gs.options.Metrics.failed(g.Name, f)
		gs.env.Recorder.Event(gs.stored, corev1.EventTypeWarning, "FailedProvisioning", "Instance %s of node group %s: %s: %s", g.instanceName(i.Number), g.Name, f.Code, f.Message)
	}
	next, err := gs.register(ctx, g, s.clone(), now)
	if err != nil {
		return wake, err
	}
	if next == nil {
		return wake, nil
	}
	return wake, gs.keep(ctx, g, next, all)
}

// draw begins the instances for which there is stock beside the Nodes, and returns those that failed in doing so or have run
// out of stock now, whether the state has changed, and the time of the next step.
func (g *Group) draw(s *state, nodes int, seed int64, now time.Time) (failed []instance, changed bool, wake time.Time) {
	stock := g.Max
	if g.Stock != nil {
		stock = *g.Stock
	}
	for _, i := range s.Instances {
		if i.begun() {
			nodes++
		}
	}
	out := g.stockOut(s.Since, now)
	for n := range s.Instances {
		i := &s.Instances[n]
		switch {
		case i.begun() || i.Failed != nil:
		case !out.IsZero() || nodes >= stock:
			wake = earlier(wake, out)
			if !i.OutOfStock {
				i.OutOfStock, changed = true, true
				failed = append(failed, *i)
			}
		default:
			g.begin(i, seed, now)
			changed = true
			if i.Failed != nil {
				failed = append(failed, *i)
			} else {
				nodes++
			}
		}
		if i.begun() && now.Before(i.Registers) {
			wake = earlier(wake, i.Registers)
		}
	}
	return failed, changed, wake
}

// register creates the Nodes of the instances whose time has come, and removes these from the state. It returns nil if no
// time has come.
func (gs *Groups) register(ctx context.Context, g *Group, s *state, now time.Time) (*state, error) {
	var mu sync.Mutex
	refused := map[int]*Failure{}
	group, creating := errgroup.WithContext(ctx)
	group.SetLimit(nodeWriters)
	due := func(i *instance) bool { return i.begun() && !now.Before(i.Registers) }
	work := false
	for n := range s.Instances {
		i := &s.Instances[n]
		if !due(i) {
			continue
		}
		work = true
		group.Go(func() error {
			f, err := gs.create(creating, g.nodeOf(i.Number))
			mu.Lock()
			defer mu.Unlock()
			refused[i.Number] = f
			return err
		})
	}
	if err := group.Wait(); err != nil || !work {
		return nil, err
	}
	var rest []instance
	for _, i := range s.Instances {
		if f := refused[i.Number]; f != nil {
			i = instance{Number: i.Number, Requested: i.Requested, Failed: f}
			gs.ring() // another may have its stock
			gs.options.Metrics.failed(g.Name, f)
			gs.env.Recorder.Event(gs.stored, corev1.EventTypeWarning, "FailedRegistration", "Instance %s of node group %s: %s: %s", g.instanceName(i.Number), g.Name, f.Code, f.Message)
		} else if due(&i) {
			gs.options.Metrics.registered(g.Name, &i, now)
			continue
		}
		rest = append(rest, i)
	}
	s.Instances = rest
	return s, nil
}

// create creates a Node, unless it is there already. A Node that the server refuses for good is a failure.
func (gs *Groups) create(ctx context.Context, n *corev1.Node) (*Failure, error) {
	_, err := gs.api.Create(ctx, n)
	switch {
	case apierrors.IsAlreadyExists(err):
		have, err := gs.api.Get(ctx, n.Name)
		if err != nil || have.Spec.ProviderID == n.Spec.ProviderID {
			return nil, err
		}
		return &Failure{Code: "NAME_TAKEN", Message: "another node has this name", Class: Other}, nil
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
		return &Failure{Code: "NODE_REFUSED", Message: err.Error(), Class: Other}, nil
	}
	return nil, err
}
