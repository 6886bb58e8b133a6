package leaderelection

import (
	"context"
	"log/slog"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

const (
	// recheck is the time until a Lease is looked at again without an event.
	recheck = 5 * time.Second
	// electionTime is how long the candidates have to answer a ping, and how long an answer counts.
	electionTime = 5 * time.Second
	// candidateLife is how long a candidate that does not renew itself counts. After half of it the candidates are pinged.
	candidateLife = 30 * time.Minute
	// firstDuration is the Lease's duration until its new holder renews it, in seconds.
	firstDuration = 5
)

// byLease is the index of the candidates by the namespace and name of the Lease.
const byLease = "lease"

type elector struct {
	leases     controller.Objects[*coordinationv1.Lease]
	candidates controller.Objects[*coordinationv1beta1.LeaseCandidate]
	log        *slog.Logger
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	e := &elector{
		leases:     controller.ObjectsOf[*coordinationv1.Lease](env),
		candidates: controller.ObjectsOf[*coordinationv1beta1.LeaseCandidate](env),
		log:        env.Log,
	}
	e.candidates.Index(byLease, func(c *coordinationv1beta1.LeaseCandidate) []string { return []string{leaseOf(c)[0].String()} })
	return controller.Runners{
		controller.New("leaderelection", e.reconcile, controller.Options{Workers: 1, Log: env.Log}).Watch(
			controller.For(e.leases),
			controller.Watches(e.candidates, leaseOf).If(func(_, c *coordinationv1beta1.LeaseCandidate) bool { return !pending(c) }),
		),
		controller.New("leasecandidategc", controller.ByObject(e.candidates, e.collect), controller.Options{Workers: 1, Log: env.Log}).Watch(
			controller.For(e.candidates),
		),
	}
}

// leaseOf returns the key of the Lease that a candidate is for.
func leaseOf(c *coordinationv1beta1.LeaseCandidate) []controller.Key {
	return []controller.Key{{Namespace: c.Namespace, Name: c.Spec.LeaseName}}
}

// reconcile takes the next step of the election for a Lease, if it needs one.
func (e *elector) reconcile(ctx context.Context, lease controller.Key) (controller.Result, error) {
	now := time.Now()
	candidates := e.living(lease, now)
	if len(candidates) == 0 {
		return controller.Result{}, nil
	}
	later := controller.Result{RequeueAfter: recheck}
	if !e.needed(lease, candidates, now) {
		return later, nil
	}
	if waits, err := e.ping(ctx, candidates, now); waits || err != nil {
		return later, err
	}
	var answered []*coordinationv1beta1.LeaseCandidate
	for _, c := range candidates {
		if heardOf(c, now) {
			answered = append(answered, c)
		}
	}
	if len(answered) == 0 {
		return controller.Result{}, nil // the first that answers causes another call
	}
	strategy, err := strategyOf(answered)
	if err != nil {
		e.log.Warn("no leader was elected", "lease", lease, "error", err)
		return controller.Result{}, nil
	}
	elected := ""
	if strategy == coordinationv1.OldestEmulationVersion {
		if elected = oldest(answered); elected == "" {
			return controller.Result{}, nil
		}
	}
	return later, e.elect(ctx, lease, strategy, elected, now)
}

// living returns the candidates for a Lease that count.
func (e *elector) living(lease controller.Key, now time.Time) (all []*coordinationv1beta1.LeaseCandidate) {
	for _, c := range e.candidates.Store().ByIndex(byLease, lease.String()) {
		if c.Spec.RenewTime != nil && !c.Spec.RenewTime.Add(candidateLife).Before(now) {
			all = append(all, c)
		}
	}
	return all
}

// needed reports whether a Lease needs an election.
func (e *elector) needed(key controller.Key, candidates []*coordinationv1beta1.LeaseCandidate, now time.Time) bool {
	lease, ok := e.leases.Store().Get(key.Namespace, key.Name)
	if !ok || expired(lease, now) || ptr.Deref(lease.Spec.HolderIdentity, "") == "" {
		return true
	}
	for _, c := range candidates {
		if c.Spec.RenewTime.Add(candidateLife / 2).Before(now) {
			return true
		}
	}
	strategy, err := strategyOf(candidates)
	if err != nil {
		e.log.Warn("the lease's candidates were not compared", "lease", key, "error", err)
		return false
	}
	if strategy != coordinationv1.OldestEmulationVersion {
		return false
	}
	first := oldest(candidates)
	return first != "" && first != *lease.Spec.HolderIdentity
}

// ping pings the candidates that have not been heard of, and reports whether answers are awaited.
func (e *elector) ping(ctx context.Context, candidates []*coordinationv1beta1.LeaseCandidate, now time.Time) (waits bool, err error) {
	for _, c := range candidates {
		switch {
		case pending(c):
			// Without an answer in time the candidate takes no part, and is not pinged again.
			waits = waits || c.Spec.PingTime.Add(electionTime).After(now)
		case !heardOf(c, now):
			pinged := c.DeepCopy()
			pinged.Spec.PingTime = ptr.To(metav1.NewMicroTime(now))
			if _, err := e.candidates.API.Namespace(c.Namespace).Update(ctx, pinged); err != nil {
				return true, client.IgnoreNotFound(err)
			}
			waits = true
		}
	}
	return waits, nil
}

// elect writes the result of an election into a Lease; elected is empty if others choose the holder.
func (e *elector) elect(ctx context.Context, key controller.Key, strategy coordinationv1.CoordinatedLeaseStrategy, elected string, now time.Time) error {
	leases := e.leases.API.Namespace(key.Namespace)
	old, err := leases.Get(ctx, key.Name)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err != nil {
		_, err := leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Spec: firstTerm(strategy, elected, now),
		})
		if err == nil {
			e.log.Info("created the lease", "lease", key, "holder", elected)
		}
		return err
	}
	lease := old.DeepCopy()
	lease.Spec.Strategy = &strategy
	switch holder := ptr.Deref(old.Spec.HolderIdentity, ""); {
	case elected == "" || elected == holder:
	case holder == "" || expired(old, now):
		lease.Spec = firstTerm(strategy, elected, now)
		lease.Spec.LeaseTransitions = old.Spec.LeaseTransitions
	default:
		lease.Spec.PreferredHolder = &elected
	}
	if ptr.Equal(old.Spec.Strategy, lease.Spec.Strategy) && ptr.Equal(old.Spec.HolderIdentity, lease.Spec.HolderIdentity) &&
		ptr.Equal(old.Spec.PreferredHolder, lease.Spec.PreferredHolder) {
		return nil
	}
	if _, err = leases.Update(ctx, lease); err == nil {
		e.log.Info("elected", "lease", key, "holder", ptr.Deref(lease.Spec.HolderIdentity, ""), "preferred", ptr.Deref(lease.Spec.PreferredHolder, ""))
	}
	return err
}

// firstTerm is the spec of a Lease whose holder has not renewed it yet.
func firstTerm(strategy coordinationv1.CoordinatedLeaseStrategy, elected string, now time.Time) coordinationv1.LeaseSpec {
	s := coordinationv1.LeaseSpec{Strategy: &strategy, LeaseDurationSeconds: ptr.To(int32(firstDuration)), RenewTime: ptr.To(metav1.NewMicroTime(now))}
	if elected != "" {
		s.HolderIdentity = &elected
	}
	return s
}

// expired reports whether a Lease has expired.
func expired(l *coordinationv1.Lease, now time.Time) bool {
	s := l.Spec
	return s.RenewTime == nil || s.LeaseDurationSeconds == nil || s.RenewTime.Add(time.Duration(*s.LeaseDurationSeconds)*time.Second).Before(now)
}

// collect deletes a candidate that has not renewed itself for too long.
func (e *elector) collect(ctx context.Context, c *coordinationv1beta1.LeaseCandidate) (controller.Result, error) {
	since := c.CreationTimestamp.Time
	if t := c.Spec.RenewTime; t != nil {
		since = t.Time
	}
	if left := time.Until(since.Add(candidateLife)); left > 0 {
		return controller.Result{RequeueAfter: left}, nil
	}
	same := metav1.Preconditions{UID: &c.UID, ResourceVersion: &c.ResourceVersion}
	return controller.Result{}, client.IgnoreNotFound(e.candidates.API.Namespace(c.Namespace).Delete(ctx, c.Name, metav1.DeleteOptions{Preconditions: &same}))
}
