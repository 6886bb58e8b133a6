package resourcepoolstatusrequest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

const maxTypes = 32 // of partitions in a status

// partitionType is what the partitions of a group have in common: the value of an attribute.
type partitionType struct{ attribute, value string }

// partitionGroup has the partitions of a type, which all consume the same counters.
type partitionGroup struct {
	total int32
	free  []*resourcev1.Device
	cost  string
}

// counterSets are the values of counters by the names of their set and of the counter.
type counterSets map[string]map[string]resource.Quantity

// partitioned counts the devices that consume shared counters by their type, and how many of each type could still be allocated if
// nothing else were. The type is the value of the attribute that the device's slice names, or the fallback where no slice of the pool
// names one. Devices without such an attribute's name are not counted.
func (p *pool) partitioned(driver string, fallback *string, used use) ([]resourcev1alpha3.PartitionTypeStatus, error) {
	left, devices, named := counterSets{}, 0, false
	for _, s := range p.slices {
		devices += len(s.Spec.Devices)
		named = named || s.Spec.PartitionTypeAttribute != nil
		for _, set := range s.Spec.SharedCounters {
			left.add(set)
		}
	}
	if named {
		fallback = nil
	}
	if devices == 0 || !named && fallback == nil {
		return nil, nil
	}
	if len(left) == 0 {
		return nil, fmt.Errorf("PartitionTypeMissing: pool %s/%s declares partitionTypeAttribute but publishes no sharedCounters", driver, p.name)
	}
	groups := map[partitionType]*partitionGroup{}
	for _, s := range p.slices {
		attribute := ptr.Deref(fallback, "")
		if s.Spec.PartitionTypeAttribute != nil {
			attribute = string(*s.Spec.PartitionTypeAttribute)
		}
		for i := range s.Spec.Devices {
			d := &s.Spec.Devices[i]
			if used.devices[d.Name] {
				left.consume(d)
			}
			if attribute == "" || len(d.ConsumesCounters) == 0 {
				continue
			}
			value, ok := textOf(d, driver, attribute)
			if !ok {
				return nil, fmt.Errorf("PartitionTypeMissing: device %q in pool %s/%s does not carry partition type attribute %q", d.Name, driver, p.name, attribute)
			}
			of, cost := partitionType{attribute, value}, costOf(d)
			g := groups[of]
			if g == nil {
				g = &partitionGroup{cost: cost}
				groups[of] = g
			}
			if g.cost != cost {
				return nil, fmt.Errorf("PartitionCostMismatch: devices of partition type %q in pool %s/%s consume different counters", value, driver, p.name)
			}
			if g.total++; !used.devices[d.Name] {
				g.free = append(g.free, d)
			}
		}
	}
	if len(groups) > maxTypes {
		return nil, fmt.Errorf("PartitionSummaryOverCap: pool %s/%s has %d partition types, exceeding the maximum of %d", driver, p.name, len(groups), maxTypes)
	}
	var all []resourcev1alpha3.PartitionTypeStatus
	for of, g := range groups {
		all = append(all, resourcev1alpha3.PartitionTypeStatus{
			Attribute: of.attribute, Type: of.value, Total: &g.total, Allocatable: ptr.To(left.fit(g.free)),
		})
	}
	slices.SortFunc(all, func(a, b resourcev1alpha3.PartitionTypeStatus) int {
		return cmp.Or(cmp.Compare(a.Attribute, b.Attribute), cmp.Compare(a.Type, b.Type))
	})
	return all, nil
}

// textOf returns a device's attribute of a qualified name, if it is a string. The driver may leave out its own name as the domain.
func textOf(d *resourcev1.Device, driver, name string) (string, bool) {
	a, ok := d.Attributes[resourcev1.QualifiedName(name)]
	if bare, own := strings.CutPrefix(name, driver+"/"); !ok && own {
		a = d.Attributes[resourcev1.QualifiedName(bare)]
	}
	return ptr.Deref(a.StringValue, ""), a.StringValue != nil
}

// costOf describes the counters that a device consumes.
func costOf(d *resourcev1.Device) string {
	var parts []string
	for _, c := range d.ConsumesCounters {
		for name, counter := range c.Counters {
			parts = append(parts, c.CounterSet+"/"+name+"="+counter.Value.String())
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

func (c counterSets) add(set resourcev1.CounterSet) {
	if c[set.Name] == nil {
		c[set.Name] = map[string]resource.Quantity{}
	}
	for name, counter := range set.Counters {
		c[set.Name][name] = counter.Value.DeepCopy()
	}
}

func (c counterSets) consume(d *resourcev1.Device) {
	for _, consumed := range d.ConsumesCounters {
		set := c[consumed.CounterSet]
		for name, counter := range consumed.Counters {
			if left, ok := set[name]; ok {
				left.Sub(counter.Value)
				set[name] = left
			}
		}
	}
}

// covers reports whether all counters that a device consumes exist and have enough left.
func (c counterSets) covers(d *resourcev1.Device) bool {
	for _, consumed := range d.ConsumesCounters {
		for name, counter := range consumed.Counters {
			if left, ok := c[consumed.CounterSet][name]; !ok || left.Cmp(counter.Value) < 0 {
				return false
			}
		}
	}
	return true
}

// fit returns how many of the devices could be allocated together.
func (c counterSets) fit(devices []*resourcev1.Device) (n int32) {
	left := counterSets{}
	for set, values := range c {
		left[set] = map[string]resource.Quantity{}
		for name, q := range values {
			left[set][name] = q.DeepCopy()
		}
	}
	for _, d := range devices {
		if left.covers(d) {
			left.consume(d)
			n++
		}
	}
	return n
}
