package images

import (
	"strings"
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
	// EphemeralStorage is the space on the node's disk that logs and the writable layer take.
	EphemeralStorage *resource.Quantity `json:"ephemeralStorage,omitempty"`
	// Processes is the number of processes.
	Processes *resource.Quantity `json:"processes,omitempty"`
	// EmptyDirs is the space that the container takes in emptyDir volumes, by the name of the volume.
	EmptyDirs map[string]resource.Quantity `json:"emptyDirs,omitempty"`
}

// Processes is the name of the number of processes among resources.
const Processes corev1.ResourceName = "pids"

const emptyDirPrefix = "emptyDir/"

// EmptyDir is the name of the space in an emptyDir volume among resources.
func EmptyDir(volume string) corev1.ResourceName {
	return corev1.ResourceName(emptyDirPrefix + volume)
}

func (p *Point) of(name corev1.ResourceName) *resource.Quantity {
	switch name {
	case corev1.ResourceCPU:
		return p.CPU
	case corev1.ResourceMemory:
		return p.Memory
	case corev1.ResourceEphemeralStorage:
		return p.EphemeralStorage
	case Processes:
		return p.Processes
	}
	if volume, ok := strings.CutPrefix(string(name), emptyDirPrefix); ok {
		if q, ok := p.EmptyDirs[volume]; ok {
			return &q
		}
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

// Exceeds returns the first time at which a container uses more of a resource than a limit; ok is false if it never does.
func (b *Behavior) Exceeds(name corev1.ResourceName, limit resource.Quantity) (after time.Duration, ok bool) {
	var before *Point
	for i := range b.Usage {
		p := &b.Usage[i]
		if p.of(name) == nil {
			continue
		}
		if p.of(name).Cmp(limit) > 0 {
			if before == nil {
				return 0, true
			}
			from, to := before.of(name).AsApproximateFloat64(), p.of(name).AsApproximateFloat64()
			share := (limit.AsApproximateFloat64() - from) / (to - from)
			return before.After.Duration + time.Duration(share*float64(p.After.Duration-before.After.Duration)), true
		}
		before = p
	}
	return 0, false
}
