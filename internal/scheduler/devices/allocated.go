package devices

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/structured"
)

// allocated are the devices, shares and capacities that claims have taken.
type allocated struct {
	devices    sets.Set[structured.DeviceID]
	more       map[structured.DeviceID]int // further claims with a device, if a mistake gave it to several
	shares     map[poolID]sets.Set[structured.SharedDeviceID]
	capacities structured.ConsumedCapacityCollection
}

func newAllocated() allocated {
	return allocated{
		devices:    sets.Set[structured.DeviceID]{},
		more:       map[structured.DeviceID]int{},
		shares:     map[poolID]sets.Set[structured.SharedDeviceID]{},
		capacities: structured.NewConsumedCapacityCollection(),
	}
}

// take counts an allocation, which may be nil.
func (s *State) take(a *resourcev1.AllocationResult) {
	s.each(a, func(id poolID, device structured.DeviceID, r *resourcev1.DeviceRequestAllocationResult) {
		if r.ShareID != nil && s.Features.ConsumableCapacity {
			if s.allocated.shares[id] == nil {
				s.allocated.shares[id] = sets.Set[structured.SharedDeviceID]{}
			}
			s.allocated.shares[id].Insert(structured.MakeSharedDeviceID(device, r.ShareID))
			if r.ConsumedCapacity != nil {
				s.allocated.capacities.Insert(structured.NewDeviceConsumedCapacity(device, r.ConsumedCapacity))
			}
			return
		}
		if s.allocated.devices.Has(device) {
			s.allocated.more[device]++
		}
		s.allocated.devices.Insert(device)
	})
}

// free reverts take.
func (s *State) free(a *resourcev1.AllocationResult) {
	s.each(a, func(id poolID, device structured.DeviceID, r *resourcev1.DeviceRequestAllocationResult) {
		if r.ShareID != nil && s.Features.ConsumableCapacity {
			if s.allocated.shares[id].Delete(structured.MakeSharedDeviceID(device, r.ShareID)); s.allocated.shares[id].Len() == 0 {
				delete(s.allocated.shares, id)
			}
			if r.ConsumedCapacity != nil {
				s.allocated.capacities.Remove(structured.NewDeviceConsumedCapacity(device, r.ConsumedCapacity))
			}
			return
		}
		switch s.allocated.more[device] {
		case 0:
			s.allocated.devices.Delete(device)
		case 1:
			delete(s.allocated.more, device)
		default:
			s.allocated.more[device]--
		}
	})
}

// each calls f with the devices of an allocation that are not for others, and counts the changes of their pools. A
// device with admin access is not taken.
func (s *State) each(a *resourcev1.AllocationResult, f func(poolID, structured.DeviceID, *resourcev1.DeviceRequestAllocationResult)) {
	if a == nil {
		return
	}
	for i := range a.Devices.Results {
		r := &a.Devices.Results[i]
		if r.AdminAccess != nil && *r.AdminAccess {
			continue
		}
		id := poolID{r.Driver, r.Pool}
		f(id, structured.MakeDeviceID(r.Driver, r.Pool, r.Device), r)
		if p := s.pools[id]; p != nil {
			s.clock++
			p.changed = s.clock
		}
	}
}
