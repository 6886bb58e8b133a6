package leader

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
)

// Coordinated describes a candidate to a server that chooses the holder by the strategy OldestEmulationVersion. The server has
// to have the feature gate CoordinatedLeaderElection on, and to serve LeaseCandidates in coordination.k8s.io/v1beta1.
type Coordinated struct {
	// BinaryVersion is the process's version of Kubernetes, and EmulationVersion the one that it emulates: semantic versions
	// such as 1.37.2.
	BinaryVersion, EmulationVersion string
}

// tryElected renews the lease if the server has given it to this candidate, and prefers no other one.
func (e *election) tryElected(ctx context.Context) (held bool, err error) {
	now := time.Now()
	lease, err := e.leases.Get(ctx, e.who.Name)
	if err != nil {
		return false, err
	}
	if e.seen == nil || e.seen.ResourceVersion != lease.ResourceVersion {
		e.seen, e.since = lease, now
	}
	s := lease.Spec
	switch lasts := time.Duration(ptr.Deref(s.LeaseDurationSeconds, 0)) * time.Second; {
	case ptr.Deref(s.HolderIdentity, "") != e.who.Identity:
		return false, nil
	case e.since.Add(lasts).Before(now):
		e.release(ctx) // the server elects no candidate that holds the lease already
		return false, nil
	case ptr.Deref(s.PreferredHolder, "") != "":
		return false, nil
	}
	lease = lease.DeepCopy()
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(now))
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(e.who.Timing.LeaseDuration / time.Second))
	lease.Spec.LeaseTransitions = ptr.To(ptr.Deref(s.LeaseTransitions, 0))
	lease, err = e.leases.Update(ctx, lease)
	return e.recordWrite(lease, now, err)
}

// candidateRenewal is the time between two renewals of a LeaseCandidate that is not pinged.
const candidateRenewal = 5 * time.Minute

// candidacy is the LeaseCandidate of a process. Like that of client-go it stays when the process ends.
type candidacy struct {
	who        Candidate
	candidates client.Resource[*coordinationv1beta1.LeaseCandidate]
}

// stand keeps the LeaseCandidate until ctx ends, or end is called, which waits for that.
func stand(ctx context.Context, c *client.Client, who Candidate) (end func()) {
	ctx, stop := context.WithCancel(ctx)
	kept := candidacy{who, client.For[*coordinationv1beta1.LeaseCandidate](c).Namespace(who.Namespace)}
	var done sync.WaitGroup
	done.Go(func() { kept.run(ctx) })
	return func() {
		stop()
		done.Wait()
	}
}

func (c candidacy) run(ctx context.Context) {
	for warned := false; ctx.Err() == nil; {
		var latest *coordinationv1beta1.LeaseCandidate
		err := client.RetryOnConflict(ctx, func() (err error) {
			latest, err = c.renew(ctx)
			return err
		})
		if err == nil {
			warned = false
			err = c.awaitPing(ctx, latest)
		}
		if err == nil || ctx.Err() != nil {
			continue
		}
		if !warned && !apierrors.IsResourceExpired(err) {
			c.who.Log.Warn("the LeaseCandidate was not renewed", "lease", c.who.Name, "identity", c.who.Identity, "error", err)
			warned = true
		}
		select {
		case <-time.After(c.who.Timing.RetryPeriod):
		case <-ctx.Done():
		}
	}
}

// renew renews the LeaseCandidate, or creates it.
func (c candidacy) renew(ctx context.Context) (*coordinationv1beta1.LeaseCandidate, error) {
	have, err := c.candidates.Get(ctx, c.who.Identity)
	now := metav1.NowMicro()
	switch {
	case apierrors.IsNotFound(err):
		return c.candidates.Create(ctx, &coordinationv1beta1.LeaseCandidate{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.who.Namespace, Name: c.who.Identity},
			Spec: coordinationv1beta1.LeaseCandidateSpec{
				LeaseName: c.who.Name, RenewTime: &now, Strategy: coordinationv1.OldestEmulationVersion,
				BinaryVersion: c.who.Coordinated.BinaryVersion, EmulationVersion: c.who.Coordinated.EmulationVersion,
			},
		})
	case err != nil:
		return nil, err
	}
	have = have.DeepCopy()
	have.Spec.RenewTime = &now
	return c.candidates.Update(ctx, have)
}

// awaitPing returns when the LeaseCandidate should be renewed.
func (c candidacy) awaitPing(ctx context.Context, latest *coordinationv1beta1.LeaseCandidate) error {
	due, cancel := context.WithTimeout(ctx, candidateRenewal)
	defer cancel()
	w, err := c.candidates.Watch(due, metav1.ListOptions{
		FieldSelector: "metadata.name=" + c.who.Identity, ResourceVersion: latest.ResourceVersion, AllowWatchBookmarks: true,
	})
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		event, err := w.Next(due)
		switch {
		case due.Err() != nil || errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if s := event.Object.Spec; event.Type == watch.Deleted || s.PingTime != nil && (s.RenewTime == nil || s.RenewTime.Before(s.PingTime)) {
			return nil
		}
	}
}
