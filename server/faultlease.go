package server

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// expired enters into the trace the keys whose deletion a fault has caused by ending leases:
// the deletions of these keys since a revision.
func (b breaker) expired(ctx context.Context, id uint64, since storage.Revision, keys map[string]bool) error {
	store := b.s.cfg.Store
	now, err := store.Current(ctx)
	if err != nil || now == since {
		return err
	}
	cur, err := store.Watch("/", storage.PrefixEnd("/"), since)
	if err != nil {
		return err
	}
	defer cur.Close()
	for cur.Want(now); ; {
		batch, err := cur.Next()
		if err != nil {
			return err
		}
		for _, e := range batch.Events {
			if e.Type == storage.Delete && keys[e.KV.Key] {
				b.s.cfg.Trace.FaultInjected(trace.InjectedFault{
					Fault: id, Action: string(faults.Expire), What: "its lease was ended", Revision: int64(e.Revision()),
				})
			}
		}
		if batch.Progress >= now {
			return nil
		}
		select {
		case <-cur.Bell():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Held implements faults.Breaker.
func (b breaker) Held(ctx context.Context, meant func(faults.Target) bool) (map[string]string, error) {
	all, err := lookup(b).List(ctx, schema.ParseGroupResource(faults.Leases), "")
	if err != nil {
		return nil, err
	}
	held := map[string]string{}
	for _, obj := range all {
		l, ok := obj.(*coordinationv1.Lease)
		if ok && ptr.Deref(l.Spec.HolderIdentity, "") != "" && meant(faults.Target{Resource: faults.Leases, Namespace: l.Namespace, Name: l.Name}) {
			held[string(l.UID)] = *l.Spec.HolderIdentity
		}
	}
	return held, nil
}

// failRenewal fails the renewal of a Lease that a fault lets expire.
func (c *call) failRenewal(obj, old resource.Object) error {
	was, ok := old.(*coordinationv1.Lease)
	if c.s.cfg.Faults == nil || c.dryRun || !ok {
		return nil
	}
	is, ok := obj.(*coordinationv1.Lease)
	if !ok {
		return nil
	}
	from, to := ptr.Deref(was.Spec.HolderIdentity, ""), ptr.Deref(is.Spec.HolderIdentity, "")
	t := c.faultTarget()
	f, passes, ok := c.s.cfg.Faults.Renew(faults.Renewal{Target: t, UID: string(was.UID), From: from, To: to})
	if !ok {
		return nil
	}
	one := c.newInjectedFault(f, t)
	if passes {
		one.What = fmt.Sprintf("taken from %s, whose renewals failed", from)
		c.injectedFaults = append(c.injectedFaults, one)
		return nil
	}
	one.What = fmt.Sprintf("failed with %d, %s has not renewed it for %v", f.Code, from, unrenewed(was))
	c.injectedFaults = append(c.injectedFaults, one)
	return faultError(f)
}

// unrenewed returns the time since a Lease was renewed.
func unrenewed(l *coordinationv1.Lease) time.Duration {
	if l.Spec.RenewTime == nil {
		return 0
	}
	return time.Since(l.Spec.RenewTime.Time).Truncate(time.Millisecond)
}
