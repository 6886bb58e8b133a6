package devicetainteviction

import (
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"

	"fairlead.dev/controller"
)

// eviction is when a pod has to leave, and because of which rules, among others.
type eviction struct {
	due   time.Time
	rules []*resourcev1.DeviceTaintRule
}

// evictionOf returns the eviction of a pod by the taints of slices and of some rules, nil if it may stay.
func (e *evictor) evictionOf(p *corev1.Pod, rules []*resourcev1.DeviceTaintRule) *eviction {
	var all *eviction
	add := func(d *resourcev1.DeviceRequestAllocationResult, t *resourcev1.DeviceTaint, r *resourcev1.DeviceTaintRule) {
		due, evicts := dueTime(t, d.Tolerations)
		if !evicts {
			return
		}
		if all == nil {
			all = &eviction{due: due}
		}
		if due.Before(all.due) {
			all.due = due
		}
		if r != nil && !slices.Contains(all.rules, r) {
			all.rules = append(all.rules, r)
		}
	}
	for c := range e.claimsOf(p) {
		for i := range results(c) {
			d := &results(c)[i]
			for t := range e.taintsOf(d) {
				add(d, t, nil)
			}
			for _, r := range rules {
				if selects(r, d.Driver, d.Pool, d.Device) {
					add(d, &r.Spec.Taint, r)
				}
			}
		}
	}
	return all
}

// dueTime returns until when the tolerations let a device be used despite a taint; false for ever.
func dueTime(t *resourcev1.DeviceTaint, tolerations []resourcev1.DeviceToleration) (due time.Time, evicts bool) {
	if t.Effect != resourcev1.DeviceTaintEffectNoExecute || t.TimeAdded == nil {
		return due, false
	}
	stay := int64(-1)
	for i := range tolerations {
		if !tolerates(&tolerations[i], t) {
			continue
		}
		s := tolerations[i].TolerationSeconds
		if s == nil {
			return due, false
		}
		if seconds := max(0, min(*s, maxSeconds)); stay < 0 || seconds < stay {
			stay = seconds
		}
	}
	return t.TimeAdded.Add(time.Duration(max(0, stay)) * time.Second), true
}

// maxSeconds is the maximum that fits a time.Duration.
const maxSeconds = int64(1<<63-1) / int64(time.Second)

// tolerates reports whether a toleration matches a taint of effect NoExecute. One without an effect does not delay
// evictions.
func tolerates(by *resourcev1.DeviceToleration, t *resourcev1.DeviceTaint) bool {
	if by.Effect != t.Effect || by.Key != "" && by.Key != t.Key {
		return false
	}
	switch by.Operator {
	case "", resourcev1.DeviceTolerationOpEqual:
		return by.Value == t.Value
	case resourcev1.DeviceTolerationOpExists:
		return true
	}
	return false
}

// claimsOf returns the claims that a pod uses: those in its spec, from templates or not, and that of extended resources.
func (e *evictor) claimsOf(p *corev1.Pod) iter.Seq[*resourcev1.ResourceClaim] {
	return func(yield func(*resourcev1.ResourceClaim) bool) {
		for name, own := range resourceclaim.PodClaims(p) {
			c, ok := e.claims.Store().Get(p.Namespace, name)
			if !ok || own && resourceclaim.IsForPod(p, c, e.options.GroupClaims) != nil ||
				!resourceclaim.IsReservedForPod(p, c, e.options.GroupClaims) {
				continue
			}
			if !yield(c) {
				return
			}
		}
	}
}

// taintsOf returns the taints that an allocated device has in its slice.
func (e *evictor) taintsOf(d *resourcev1.DeviceRequestAllocationResult) iter.Seq[*resourcev1.DeviceTaint] {
	return func(yield func(*resourcev1.DeviceTaint) bool) {
		for _, s := range e.current(pool(d.Driver, d.Pool)) {
			for i := range s.Spec.Devices {
				if s.Spec.Devices[i].Name != d.Device {
					continue
				}
				for t := range s.Spec.Devices[i].Taints {
					if !yield(&s.Spec.Devices[i].Taints[t]) {
						return
					}
				}
				return
			}
		}
	}
}

// current returns the slices of a pool that are of its highest generation.
func (e *evictor) current(pool string) (current []*resourcev1.ResourceSlice) {
	for _, s := range e.slices.Store().ByIndex(byPool, pool) {
		if len(current) > 0 && s.Spec.Pool.Generation > current[0].Spec.Pool.Generation {
			current = nil
		}
		if len(current) == 0 || s.Spec.Pool.Generation == current[0].Spec.Pool.Generation {
			current = append(current, s)
		}
	}
	return current
}

// evicts reports whether a device of a slice has a taint that evicts pods.
func evicts(s *resourcev1.ResourceSlice) bool {
	return slices.ContainsFunc(s.Spec.Devices, func(d resourcev1.Device) bool {
		return slices.ContainsFunc(d.Taints, func(t resourcev1.DeviceTaint) bool { return t.Effect == resourcev1.DeviceTaintEffectNoExecute })
	})
}

// selects reports whether a rule taints a device.
func selects(r *resourcev1.DeviceTaintRule, driver, pool, device string) bool {
	s := r.Spec.DeviceSelector
	return s != nil && (s.Driver == nil || *s.Driver == driver) && (s.Pool == nil || *s.Pool == pool) && (s.Device == nil || *s.Device == device)
}

// selected returns the claims that have a device which a rule taints.
func (e *evictor) selected(r *resourcev1.DeviceTaintRule) []*resourcev1.ResourceClaim {
	return slices.DeleteFunc(e.claims.Store().List(""), func(c *resourcev1.ResourceClaim) bool {
		return !slices.ContainsFunc(results(c), func(d resourcev1.DeviceRequestAllocationResult) bool { return selects(r, d.Driver, d.Pool, d.Device) })
	})
}

// results returns the devices that are allocated for a claim.
func results(c *resourcev1.ResourceClaim) []resourcev1.DeviceRequestAllocationResult {
	if c.Status.Allocation == nil {
		return nil
	}
	return c.Status.Allocation.Devices.Results
}

// pool returns the key of a pool in the indexes.
func pool(driver, name string) string { return controller.Key{Namespace: driver, Name: name}.String() }
