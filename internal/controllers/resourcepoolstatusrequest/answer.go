package resourcepoolstatusrequest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// pool has the slices of a pool's latest generation.
type pool struct {
	name   string
	slices []*resourcev1.ResourceSlice
}

// use is what claims have of a pool.
type use struct {
	devices  map[string]bool
	consumed map[resourcev1.QualifiedName]resource.Quantity
}

// answer returns the status of a request; complete is false while slices of a pool are missing.
func (a *answerer) answer(r *resourcev1alpha3.ResourcePoolStatusRequest) (status *resourcev1alpha3.ResourcePoolStatusRequestStatus, complete bool) {
	pools := a.pools(r.Spec.Driver, ptr.Deref(r.Spec.PoolName, ""))
	status = &resourcev1alpha3.ResourcePoolStatusRequestStatus{PoolCount: ptr.To(int32(len(pools)))}
	limit := int(ptr.Deref(r.Spec.Limit, resourcev1alpha3.ResourcePoolStatusRequestLimitDefault))
	uses, flawed := a.uses(r.Spec.Driver), 0
	for _, name := range slices.Sorted(maps.Keys(pools))[:min(limit, len(pools))] {
		p := pools[name]
		if int64(len(p.slices)) < p.slices[0].Spec.Pool.ResourceSliceCount {
			return nil, false
		}
		s := p.status(r, uses[name], a.taintRules())
		if s.ValidationError != nil {
			flawed++
		}
		status.Pools = append(status.Pools, s)
	}
	message := fmt.Sprintf("Calculated status for %d pools", len(status.Pools))
	if flawed > 0 {
		message += fmt.Sprintf(" (%d incomplete)", flawed)
	}
	status.Conditions = []metav1.Condition{{
		Type: resourcev1alpha3.ResourcePoolStatusRequestConditionComplete, Status: metav1.ConditionTrue,
		LastTransitionTime: metav1.Now(), Reason: "CalculationComplete", Message: message,
	}}
	return status, true
}

// pools returns the pools of a driver by their names: all, or the one of a name.
func (a *answerer) pools(driver, only string) map[string]*pool {
	all := map[string]*pool{}
	for _, s := range a.slices.Store().List("") {
		name := s.Spec.Pool.Name
		if s.Spec.Driver != driver || only != "" && name != only {
			continue
		}
		p := all[name]
		if p == nil || s.Spec.Pool.Generation > p.slices[0].Spec.Pool.Generation {
			p = &pool{name: name}
			all[name] = p
		} else if s.Spec.Pool.Generation < p.slices[0].Spec.Pool.Generation {
			continue
		}
		p.slices = append(p.slices, s)
	}
	return all
}

// uses returns what claims have of the pools of a driver, by the pools' names. Administrators' claims only watch devices.
func (a *answerer) uses(driver string) map[string]use {
	all := map[string]use{}
	for _, c := range a.claims.Store().List("") {
		if c.Status.Allocation == nil {
			continue
		}
		for _, d := range c.Status.Allocation.Devices.Results {
			if d.Driver != driver || ptr.Deref(d.AdminAccess, false) {
				continue
			}
			u, ok := all[d.Pool]
			if !ok {
				u = use{map[string]bool{}, map[resourcev1.QualifiedName]resource.Quantity{}}
				all[d.Pool] = u
			}
			u.devices[d.Device] = true // once, even if several claims share it
			for name, q := range d.ConsumedCapacity {
				sum := u.consumed[name].DeepCopy()
				sum.Add(q)
				u.consumed[name] = sum
			}
		}
	}
	return all
}

func (a *answerer) taintRules() []*resourcev1.DeviceTaintRule {
	if a.rules == nil {
		return nil
	}
	return a.rules.Store().List("")
}

// status counts the devices of a complete pool.
func (p *pool) status(r *resourcev1alpha3.ResourcePoolStatusRequest, used use, rules []*resourcev1.DeviceTaintRule) resourcev1alpha3.PoolStatus {
	driver := r.Spec.Driver
	s := resourcev1alpha3.PoolStatus{
		Driver: driver, PoolName: p.name, Generation: p.slices[0].Spec.Pool.Generation, ResourceSliceCount: ptr.To(int32(len(p.slices))),
	}
	node, same, total, tainted := ptr.Deref(p.slices[0].Spec.NodeName, ""), true, int32(0), int32(0)
	for _, slice := range p.slices {
		same = same && ptr.Deref(slice.Spec.NodeName, "") == node
		for i := range slice.Spec.Devices {
			total++
			if isTainted(&slice.Spec.Devices[i], driver, p.name, rules) {
				tainted++
			}
		}
	}
	if same && node != "" {
		s.NodeName = &node
	}
	allocated := int32(len(used.devices))
	s.TotalDevices, s.AllocatedDevices, s.UnavailableDevices = &total, &allocated, &tainted
	s.AvailableDevices = ptr.To(max(0, total-allocated-tainted))
	var flaw, other error
	s.PartitionSummary, flaw = p.partitioned(driver, r.Spec.DefaultPartitionTypeAttribute, used)
	s.ShareableSummary, other = p.shared(driver, used)
	if flaw = cmp.Or(flaw, other); flaw != nil {
		text := flaw.Error()
		s.PartitionSummary, s.ValidationError = nil, ptr.To(text[:min(maxError, len(text))])
	}
	return s
}

// isTainted reports whether a taint of a device, or of a rule for it, keeps pods away.
func isTainted(d *resourcev1.Device, driver, pool string, rules []*resourcev1.DeviceTaintRule) bool {
	keepsAway := func(e resourcev1.DeviceTaintEffect) bool {
		return e == resourcev1.DeviceTaintEffectNoSchedule || e == resourcev1.DeviceTaintEffectNoExecute
	}
	matches := func(want *string, is string) bool { return want == nil || *want == is }
	return slices.ContainsFunc(d.Taints, func(t resourcev1.DeviceTaint) bool { return keepsAway(t.Effect) }) ||
		slices.ContainsFunc(rules, func(r *resourcev1.DeviceTaintRule) bool {
			s := r.Spec.DeviceSelector
			return s != nil && keepsAway(r.Spec.Taint.Effect) && matches(s.Driver, driver) && matches(s.Pool, pool) && matches(s.Device, d.Name)
		})
}
