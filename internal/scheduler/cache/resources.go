package cache

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Resources is an amount of each resource: CPU in thousandths of a core, memory and ephemeral
// storage in bytes, all others (extended resources, huge pages) in units under their names.
type Resources struct {
	MilliCPU         int64
	Memory           int64
	EphemeralStorage int64
	Other            map[corev1.ResourceName]int64
}

func resourcesOf(list corev1.ResourceList) Resources {
	var r Resources
	for name, q := range list {
		r.set(name, amount(name, q))
	}
	return r
}

func amount(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

func (r *Resources) Get(name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourceCPU:
		return r.MilliCPU
	case corev1.ResourceMemory:
		return r.Memory
	case corev1.ResourceEphemeralStorage:
		return r.EphemeralStorage
	}
	return r.Other[name]
}

// A ResourceKey is a resource's name, resolved once for the lookups on all nodes.
type ResourceKey struct {
	kind resourceKind
	name corev1.ResourceName
}

type resourceKind uint8

const (
	otherKind resourceKind = iota
	cpuKind
	memoryKind
	storageKind
)

func NewResourceKey(name corev1.ResourceName) ResourceKey {
	switch name {
	case corev1.ResourceCPU:
		return ResourceKey{cpuKind, name}
	case corev1.ResourceMemory:
		return ResourceKey{memoryKind, name}
	case corev1.ResourceEphemeralStorage:
		return ResourceKey{storageKind, name}
	}
	return ResourceKey{otherKind, name}
}

// Of is Get without comparing names.
func (r *Resources) Of(a *ResourceKey) int64 {
	switch a.kind {
	case cpuKind:
		return r.MilliCPU
	case memoryKind:
		return r.Memory
	case storageKind:
		return r.EphemeralStorage
	}
	return r.Other[a.name]
}

func (r *Resources) set(name corev1.ResourceName, v int64) {
	switch name {
	case corev1.ResourceCPU:
		r.MilliCPU = v
	case corev1.ResourceMemory:
		r.Memory = v
	case corev1.ResourceEphemeralStorage:
		r.EphemeralStorage = v
	case corev1.ResourcePods:
	default:
		if r.Other == nil {
			r.Other = map[corev1.ResourceName]int64{}
		}
		r.Other[name] = v
	}
}

// add adds o times n; n is 1 or -1.
func (r *Resources) add(o *Resources, n int64) {
	r.MilliCPU += n * o.MilliCPU
	r.Memory += n * o.Memory
	r.EphemeralStorage += n * o.EphemeralStorage
	for name, v := range o.Other {
		r.set(name, r.Other[name]+n*v)
	}
}

// atLeast raises each resource to o's amount.
// Equal reports whether the amounts are the same.
func (r *Resources) Equal(o *Resources) bool {
	return r.MilliCPU == o.MilliCPU && r.Memory == o.Memory && r.EphemeralStorage == o.EphemeralStorage && maps.Equal(r.Other, o.Other)
}

func (r *Resources) atLeast(o *Resources) {
	r.MilliCPU = max(r.MilliCPU, o.MilliCPU)
	r.Memory = max(r.Memory, o.Memory)
	r.EphemeralStorage = max(r.EphemeralStorage, o.EphemeralStorage)
	for name, v := range o.Other {
		r.set(name, max(r.Other[name], v))
	}
}
