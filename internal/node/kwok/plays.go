package kwok

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/node/images"
)

// Annotations of pods with the usage of each of their containers. They are Fairlead's own.
const (
	StorageAnnotation   = "fairlead.dev/usage-ephemeral-storage"
	ProcessesAnnotation = "fairlead.dev/usage-processes"
)

// played are the resources whose shortage ends pods, with the annotations that declare their usage.
var played = map[corev1.ResourceName]string{
	corev1.ResourceMemory:           MemoryAnnotation,
	corev1.ResourceEphemeralStorage: StorageAnnotation,
	images.Processes:                ProcessesAnnotation,
}

// Plays reports whether the usage of a pod is declared. Otherwise it is half of the requests, of which a node has enough.
func (d *Definitions) Plays(pod *corev1.Pod) bool {
	if len(pod.Annotations) > 0 {
		for _, annotation := range played {
			if pod.Annotations[annotation] != "" {
				return true
			}
		}
		if pod.Annotations[EmptyDirAnnotation] != "" {
			return true
		}
	}
	if d == nil {
		return false
	}
	for i := range d.set().usages {
		if d.set().usages[i].isFor(pod) {
			return true
		}
	}
	if d.Images == nil {
		return false
	}
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if b := d.Images.Of(list[i].Image); b != nil && len(b.Usage) > 0 {
				return true
			}
		}
	}
	return false
}

// Load returns the usage of a resource by a running container: memory as Use has it; of ephemeral storage, emptyDir volumes and processes, which
// a container that does not declare them uses none of.
func (d *Definitions) Load(name corev1.ResourceName, pod *corev1.Pod, c *corev1.Container) int64 {
	if name == corev1.ResourceMemory {
		q := d.Use(pod, c)[name]
		return q.Value()
	}
	if entry, ok := d.Usage(pod, c.Name); ok {
		if q, ok := entry.of(name, pod, c); ok {
			return q.Value()
		}
	}
	if q, err := resource.ParseQuantity(pod.Annotations[played[name]]); err == nil {
		return q.Value()
	}
	if b := d.image(c); b != nil {
		if q, ok := b.Use(name, runs(pod, c)); ok {
			return q.Value()
		}
	}
	return 0
}

// expressionPause is the time between two evaluations of an expression that may exceed a limit.
const expressionPause = 10 * time.Second

// Exceeds returns how long after its start a container uses more memory than a limit; ok is false if it never does. The
// value of an expression cannot be foreseen: the time then has passed, or is that of the next evaluation.
func (d *Definitions) Exceeds(pod *corev1.Pod, c *corev1.Container, limit resource.Quantity) (after time.Duration, ok bool) {
	const memory = corev1.ResourceMemory
	if entry, ok := d.Usage(pod, c.Name); ok {
		if v, ok := entry.Usage[string(memory)]; ok && v.Value != nil {
			return 0, v.Value.Cmp(limit) > 0
		}
		if q, ok := entry.of(memory, pod, c); ok {
			if q.Cmp(limit) > 0 {
				return 0, true
			}
			return runs(pod, c) + expressionPause, true
		}
	}
	if text, ok := pod.Annotations[MemoryAnnotation]; ok {
		if q, err := resource.ParseQuantity(text); err == nil {
			return 0, q.Cmp(limit) > 0
		}
	}
	if b := d.image(c); b != nil {
		return b.Exceeds(memory, limit)
	}
	return 0, false
}
