package devices

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Slices returns the slices of a node's pool, which has the node's name, in the given generation. They are those of a
// node that exists: its deletion deletes them.
func (c *Catalog) Slices(node *corev1.Node, generation int64) (all []*resourcev1.ResourceSlice) {
	var devices []resourcev1.Device
	var counters []resourcev1.CounterSet
	for i := range c.Models {
		if m := &c.Models[i]; m.isOn(node) {
			for k := range m.Count {
				of, set := c.device(m, node.Name, k)
				devices = append(devices, of...)
				if set != nil {
					counters = append(counters, *set)
				}
			}
		}
	}
	limit := resourcev1.ResourceSliceMaxDevices
	if slices.ContainsFunc(devices, func(d resourcev1.Device) bool { return len(d.Taints)+len(d.ConsumesCounters) > 0 }) {
		limit = resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures
	}
	for part := range slices.Chunk(devices, limit) {
		all = append(all, &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Devices: part}})
	}
	for part := range slices.Chunk(counters, resourcev1.ResourceSliceMaxCounterSets) {
		all = append(all, &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{SharedCounters: part}})
	}
	for i, s := range all {
		s.ObjectMeta = metav1.ObjectMeta{
			Name:            fmt.Sprintf("%s-%s-%d", node.Name, c.Driver, i),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID, Controller: ptr.To(true)}},
		}
		s.Spec.Driver, s.Spec.NodeName = c.Driver, &node.Name
		s.Spec.Pool = resourcev1.ResourcePool{Name: node.Name, Generation: generation, ResourceSliceCount: int64(len(all))}
	}
	return all
}

// device returns the i-th device of a model on a node, followed by its partitions, and the counters that they share;
// nil without partitions.
func (c *Catalog) device(m *Model, node string, i int) (all []resourcev1.Device, counters *resourcev1.CounterSet) {
	name := fmt.Sprintf("%s-%d", m.Name, i)
	taints := c.Failures.taints(node, name)
	add := func(name, profile string, capacity map[string]resource.Quantity) {
		d := resourcev1.Device{Name: name, Attributes: m.attributes(i, profile), Taints: taints}
		for of, q := range capacity {
			if d.Capacity == nil {
				d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{}
			}
			d.Capacity[resourcev1.QualifiedName(of)] = resourcev1.DeviceCapacity{Value: q}
		}
		if counters != nil {
			d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: counters.Name, Counters: countersOf(capacity)}}
		}
		all = append(all, d)
	}
	if len(m.Partitions) > 0 {
		counters = &resourcev1.CounterSet{Name: name, Counters: countersOf(m.Capacity)}
	}
	add(name, "whole", m.Capacity)
	for _, p := range m.Partitions {
		for k := range p.Count {
			add(fmt.Sprintf("%s-%s-%d", name, p.Name, k), p.Name, p.Capacity)
		}
	}
	return all, counters
}

func countersOf(capacity map[string]resource.Quantity) map[string]resourcev1.Counter {
	of := map[string]resourcev1.Counter{}
	for name, q := range capacity {
		of[name] = resourcev1.Counter{Value: q}
	}
	return of
}

// attributes returns the attributes of the i-th device of the model, or of one of its partitions.
func (m *Model) attributes(i int, profile string) map[resourcev1.QualifiedName]resourcev1.DeviceAttribute {
	all := map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"model": {StringValue: &m.Name}, "index": {IntValue: ptr.To(int64(i))}, "profile": {StringValue: &profile},
	}
	if m.NVLinkSize > 0 {
		all["nvlinkDomain"] = resourcev1.DeviceAttribute{StringValue: ptr.To(fmt.Sprintf("%s-%d", m.Name, i/m.NVLinkSize))}
	}
	for _, name := range slices.Collect(maps.Keys(m.Attributes)) {
		all[resourcev1.QualifiedName(name)], _ = attribute(m.Attributes[name])
	}
	return all
}

// attribute returns the attribute of a value in a file; false if it cannot be one.
func attribute(v any) (a resourcev1.DeviceAttribute, ok bool) {
	switch v := v.(type) {
	case string:
		a.StringValue = &v
	case bool:
		a.BoolValue = &v
	case float64:
		a.IntValue = ptr.To(int64(v))
		return a, float64(int64(v)) == v
	default:
		return a, false
	}
	return a, true
}
