package kwok

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/node/expr"
	"fairlead.dev/internal/node/images"
)

// Annotations of pods with the usage of each of their containers, as kwok's own
// definitions read them.
const (
	CPUAnnotation    = "kwok.x-k8s.io/usage-cpu"
	MemoryAnnotation = "kwok.x-k8s.io/usage-memory"
)

// Use returns the usage of a container of a running pod: as defined, else as annotated, else that of its image, else half of
// its requests, with a small minimum.
func (d *Definitions) Use(pod *corev1.Pod, c *corev1.Container) corev1.ResourceList {
	out := corev1.ResourceList{}
	entry, _ := d.Usage(pod, c.Name)
	for name, plain := range map[corev1.ResourceName]struct{ annotation, least string }{
		corev1.ResourceCPU:    {CPUAnnotation, "1m"},
		corev1.ResourceMemory: {MemoryAnnotation, "1Mi"},
	} {
		if entry != nil {
			if q, ok := entry.of(name, pod, c); ok {
				out[name] = q
				continue
			}
		}
		if q, err := resource.ParseQuantity(pod.Annotations[plain.annotation]); err == nil {
			out[name] = q
			continue
		}
		if b := d.image(c); b != nil {
			if q, ok := b.Use(name, runs(pod, c)); ok {
				out[name] = q
				continue
			}
		}
		out[name] = resource.MustParse(plain.least)
		if request, ok := c.Resources.Requests[name]; ok && !request.IsZero() {
			out[name] = half(name, request)
		}
	}
	return out
}

// image returns the behavior of a container's image; nil without one.
func (d *Definitions) image(c *corev1.Container) *images.Behavior {
	if d == nil {
		return nil
	}
	return d.Images.Of(c.Image)
}

// runs returns how long a container has been running.
func runs(pod *corev1.Pod, c *corev1.Container) time.Duration {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			if s := &list[i]; s.Name == c.Name && s.State.Running != nil {
				return time.Since(s.State.Running.StartedAt.Time)
			}
		}
	}
	return 0
}

// of returns the defined usage of a resource. An expression without a value, such as one of a missing label,
// defines none.
func (u *Usage) of(name corev1.ResourceName, pod *corev1.Pod, c *corev1.Container) (q resource.Quantity, ok bool) {
	v, ok := u.Usage[string(name)]
	if !ok {
		return q, false
	}
	if v.Value != nil {
		return *v.Value, true
	}
	n, err := v.Expression.Number(expr.Scope{}.WithPod(pod).WithContainer(c))
	if err != nil {
		return q, false
	}
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity(int64(n*1000), resource.DecimalSI), true
	}
	return *resource.NewQuantity(int64(n), resource.BinarySI), true
}

func half(name corev1.ResourceName, q resource.Quantity) resource.Quantity {
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity(q.MilliValue()/2, resource.DecimalSI)
	}
	return *resource.NewQuantity(q.Value()/2, resource.BinarySI)
}
