package resourcepoolstatusrequest

import (
	"fmt"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

const (
	maxCapacities = 32  // in a status
	maxError      = 256 // bytes of an error
)

// shared returns the capacity of the devices that several claims can share, nil for a pool without such devices. It fails if there
// are more capacities than a status has room for.
func (p *pool) shared(driver string, used use) (*resourcev1alpha3.ShareableSummaryStatus, error) {
	full, partial, totals := int32(0), int32(0), map[resourcev1.QualifiedName]resource.Quantity{}
	for _, slice := range p.slices {
		for i := range slice.Spec.Devices {
			d := &slice.Spec.Devices[i]
			if !ptr.Deref(d.AllowMultipleAllocations, false) {
				continue
			}
			if used.devices[d.Name] {
				partial++
			} else {
				full++
			}
			for name, c := range d.Capacity {
				sum := totals[name].DeepCopy()
				sum.Add(c.Value)
				totals[name] = sum
			}
		}
	}
	if full+partial == 0 {
		return nil, nil
	}
	if len(totals) > maxCapacities {
		return nil, fmt.Errorf("ShareableSummaryOverCap: pool %s/%s has %d shareable capacity keys, exceeding the maximum of %d", driver, p.name, len(totals), maxCapacities)
	}
	s := &resourcev1alpha3.ShareableSummaryStatus{FullyAvailableDevices: &full, PartiallyAvailableDevices: &partial}
	for _, name := range slices.Sorted(maps.Keys(totals)) {
		total, consumed := totals[name], used.consumed[name].DeepCopy()
		available := total.DeepCopy()
		if available.Sub(consumed); available.Sign() < 0 {
			available = *resource.NewQuantity(0, total.Format)
		}
		s.Capacity = append(s.Capacity, resourcev1alpha3.ShareableCapacityStatus{
			Name: string(name), Total: &total, Consumed: &consumed, Available: &available,
		})
	}
	return s, nil
}
