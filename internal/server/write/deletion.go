package write

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
)

// step is the effect of a delete on an object.
type step uint8

const (
	stepRemove  step = iota // it is removed at once
	stepMark                // it is marked as terminating
	stepPending             // it is terminating already
	stepEnd                 // its grace period is 0: it is marked and then removed
)

// deletionStep decides the effect of a delete and marks obj accordingly. Graceful deletion
// comes first: a pod goes on for its grace period, which later deletes can only make shorter.
// Then finalizers keep the object until the last of them is removed.
func (c *Operation) deletionStep(obj resource.Object, opts *metav1.DeleteOptions) step {
	now := metav1.Now().Rfc3339Copy()
	st := &c.Endpoint.Strategy
	switch first := obj.GetDeletionTimestamp() == nil; {
	case first && st.PrepareForDelete != nil:
		obj.SetDeletionTimestamp(&now)
		st.PrepareForDelete(obj)
		if st.Finalizing != nil {
			c.setFinalizers(obj, opts)
		}
		return stepMark
	case !first && st.Finalizing != nil && st.Finalizing(obj):
		return stepPending
	}
	graceful, pending := c.grace(obj, opts, now)
	if pending {
		return stepPending
	}
	c.setFinalizers(obj, opts)
	if len(obj.GetFinalizers()) > 0 {
		if !graceful {
			markNow(obj, now)
		}
		return stepMark
	}
	switch {
	case !graceful:
		return stepRemove
	case *obj.GetDeletionGracePeriodSeconds() > 0:
		return stepMark
	}
	return stepEnd
}

// grace begins or shortens the grace period. pending reports that the object is in a grace
// period that the request does not shorten.
func (c *Operation) grace(obj resource.Object, opts *metav1.DeleteOptions, now metav1.Time) (graceful, pending bool) {
	if s := opts.GracePeriodSeconds; s != nil && *s < 0 {
		opts.GracePeriodSeconds = ptr.To[int64](1)
	}
	f := c.Endpoint.Strategy.Graceful
	if f == nil {
		return false, false
	}
	if obj.GetDeletionTimestamp() != nil {
		return shortenGracePeriod(obj, opts.GracePeriodSeconds, now)
	}
	seconds, graceful := f(obj, opts)
	if !graceful {
		return false, false
	}
	at := metav1.NewTime(now.Add(time.Duration(seconds) * time.Second))
	obj.SetDeletionTimestamp(&at)
	obj.SetDeletionGracePeriodSeconds(&seconds)
	countUp(obj)
	return true, false
}

// shortenGracePeriod moves up the end of a grace period.
func shortenGracePeriod(obj resource.Object, asked *int64, now metav1.Time) (graceful, pending bool) {
	has := ptr.Deref(obj.GetDeletionGracePeriodSeconds(), 0)
	if has == 0 {
		return false, false
	}
	if asked == nil || *asked >= has {
		return false, true
	}
	period := *asked
	at := metav1.NewTime(obj.GetDeletionTimestamp().Add(time.Duration(period-has) * time.Second))
	if at.Before(&now) {
		at = now
		if period != 0 {
			period = 1 // the time is up, but the kubelet must still end the pod
		}
	}
	obj.SetDeletionTimestamp(&at)
	obj.SetDeletionGracePeriodSeconds(&period)
	return true, false
}

// markNow marks an object as terminating that only finalizers keep.
func markNow(obj resource.Object, now metav1.Time) {
	t := obj.GetDeletionTimestamp()
	if t == nil {
		countUp(obj)
	}
	if t == nil || t.After(now.Time) {
		obj.SetDeletionTimestamp(&now)
	}
	obj.SetDeletionGracePeriodSeconds(ptr.To[int64](0))
}

func countUp(obj resource.Object) {
	if g := obj.GetGeneration(); g > 0 {
		obj.SetGeneration(g + 1)
	}
}

// setFinalizers adds the garbage collector's finalizers that the options ask for, and removes
// the others.
func (c *Operation) setFinalizers(obj resource.Object, opts *metav1.DeleteOptions) {
	if c.Endpoint.Strategy.NoDependents || c.w.NoGarbageCollection {
		return
	}
	orphan, foreground := propagation(obj, opts, c.Endpoint.Strategy.OrphanByDefault)
	var list []string
	for _, f := range obj.GetFinalizers() {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			list = append(list, f)
		}
	}
	if orphan {
		list = append(list, metav1.FinalizerOrphanDependents)
	}
	if foreground {
		list = append(list, metav1.FinalizerDeleteDependents)
	}
	old := slices.Clone(obj.GetFinalizers())
	sorted := slices.Clone(list)
	slices.Sort(old)
	slices.Sort(sorted)
	if !slices.Equal(old, sorted) {
		obj.SetFinalizers(list)
	}
}

// propagation decides about an object's dependents: by the options, else by the object's
// finalizers, else by the kind's default. Background collection needs no finalizer.
func propagation(obj resource.Object, opts *metav1.DeleteOptions, orphanByDefault bool) (orphan, foreground bool) {
	//lint:ignore SA1019 clients still send it
	if o := opts.OrphanDependents; o != nil {
		return *o, false
	}
	if p := opts.PropagationPolicy; p != nil {
		return *p == metav1.DeletePropagationOrphan, *p == metav1.DeletePropagationForeground
	}
	for _, f := range obj.GetFinalizers() {
		switch f {
		case metav1.FinalizerOrphanDependents:
			return true, false
		case metav1.FinalizerDeleteDependents:
			return false, true
		}
	}
	return orphanByDefault, false
}
