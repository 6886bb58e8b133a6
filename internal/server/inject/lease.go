package inject

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/internal/server/write"
)

// Admission decorates an admission chain: after validation it fails the renewal of a Lease that
// a fault lets expire.
func (i *Injector) Admission(next write.Admission) write.Admission { return renewals{next, i} }

type renewals struct {
	write.Admission
	injector *Injector
}

// Validate implements write.Admission.
func (a renewals) Validate(ctx context.Context, r *admission.Request) error {
	if err := a.Admission.Validate(ctx, r); err != nil {
		return err
	}
	was, ok := r.Old.(*coordinationv1.Lease)
	if !ok || r.DryRun {
		return nil
	}
	is, ok := r.Object.(*coordinationv1.Lease)
	w, _ := ctx.Value(key{}).(*attempt)
	if !ok || w == nil {
		return nil
	}
	return a.injector.renew(w, r, was, is)
}

func (i *Injector) renew(w *attempt, r *admission.Request, was, is *coordinationv1.Lease) error {
	from, to := ptr.Deref(was.Spec.HolderIdentity, ""), ptr.Deref(is.Spec.HolderIdentity, "")
	f, passes, ok := i.Set.Renew(faults.Renewal{Target: target(w.call), UID: string(was.UID), From: from, To: to})
	if !ok {
		return nil
	}
	if passes {
		withdraw := w.record(f, fmt.Sprintf("taken from %s, whose renewals failed", from))
		r.OnDone(func(written bool) {
			if !written {
				withdraw()
			}
		})
		return nil
	}
	w.record(f, fmt.Sprintf("failed with %d, %s has not renewed it for %v", f.Code, from, unrenewed(was)))
	return faultError(f)
}

// unrenewed returns the time since a Lease was renewed.
func unrenewed(l *coordinationv1.Lease) time.Duration {
	if l.Spec.RenewTime == nil {
		return 0
	}
	return time.Since(l.Spec.RenewTime.Time).Truncate(time.Millisecond)
}
