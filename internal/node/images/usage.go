package images

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Point is the usage of a container at a time after its start.
type Point struct {
	After  metav1.Duration    `json:"after"`
	CPU    *resource.Quantity `json:"cpu,omitempty"`
	Memory *resource.Quantity `json:"memory,omitempty"`
}

func (p *Point) of(name corev1.ResourceName) *resource.Quantity {
	switch name {
	case corev1.ResourceCPU:
		return p.CPU
	case corev1.ResourceMemory:
		return p.Memory
	}
	return nil
}

// Use returns the usage of a resource by a container that has run for a time; ok is false if no point has the resource.
// Before the first point that has it, and after the last, the usage is that of the point.
func (b *Behavior) Use(name corev1.ResourceName, runs time.Duration) (q resource.Quantity, ok bool) {
	var before *Point
	for i := range b.Usage {
		p := &b.Usage[i]
		if p.of(name) == nil {
			continue
		}
		if p.After.Duration >= runs {
			if before == nil {
				return p.of(name).DeepCopy(), true
			}
			return between(before, p, name, runs), true
		}
		before = p
	}
	if before == nil {
		return q, false
	}
	return before.of(name).DeepCopy(), true
}

// between returns the usage on the line from one point to the next.
func between(a, b *Point, name corev1.ResourceName, runs time.Duration) resource.Quantity {
	share := float64(runs-a.After.Duration) / float64(b.After.Duration-a.After.Duration)
	from, to := a.of(name), b.of(name)
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity(from.MilliValue()+int64(share*float64(to.MilliValue()-from.MilliValue())), resource.DecimalSI)
	}
	return *resource.NewQuantity(from.Value()+int64(share*float64(to.Value()-from.Value())), resource.BinarySI)
}
