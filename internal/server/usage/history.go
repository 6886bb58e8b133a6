package usage

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// object is a pod; the zero value is the node.
type object struct{ namespace, pod string }

// sample is a kubelet's figures of a container or of the node at one time.
type sample struct {
	at time.Time
	// start is the start of the container; zero for the node.
	start time.Time
	// cpu is the CPU time since the start, in seconds, and memory the working set in bytes. 0 is unknown.
	cpu    float64
	memory int64
}

// samples are by object and container; that of the node is "".
type samples map[object]map[string]sample

// history is the last two samples of each container, of which the earlier one may be missing. It is not modified.
type history struct{ last, before samples }

// freshest is the least age of a container whose CPU time since its start is taken for a rate.
const freshest = 10 * time.Second

// with returns the history with newer samples.
func (h history) with(next samples) history {
	before := samples{}
	for o, containers := range next {
		before[o] = map[string]sample{}
		for name, s := range containers {
			if old := h.previous(o, name, s); !old.at.IsZero() {
				before[o][name] = old
			}
		}
	}
	return history{next, before}
}

// previous returns the sample with which a newer one is compared; zero if there is none.
func (h history) previous(o object, container string, s sample) sample {
	last, age := h.last[o][container], s.at.Sub(s.start)
	switch {
	case age >= freshest && age < Period:
		return sample{at: s.start, start: s.start}
	case s.start.After(last.at): // it is new, or has restarted
		return sample{}
	case s.at.After(last.at):
		return last
	}
	if old := h.before[o][container]; old.at.Before(s.at) { // the kubelet has measured no more
		return old
	}
	return sample{}
}

// Usage is measured between two samples.
type Usage struct {
	Resources corev1.ResourceList
	// At is the time of the later sample, and Window the time since the earlier one.
	At     time.Time
	Window time.Duration
}

// usage returns the usage of a container.
func (h history) usage(o object, container string) (u Usage, ok bool) {
	last, before := h.last[o][container], h.before[o][container]
	if last.cpu == 0 || last.memory == 0 || before.at.IsZero() || last.cpu < before.cpu {
		return u, false
	}
	u.At, u.Window = last.at, last.at.Sub(before.at)
	rate := (last.cpu - before.cpu) / u.Window.Seconds()
	u.Resources = corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewScaledQuantity(int64(min(rate*1e9, maxValue)), resource.Nano),
		corev1.ResourceMemory: *resource.NewQuantity(last.memory, resource.BinarySI),
	}
	return u, true
}

// pod returns the usage of the containers of a pod, by their names; false if one of them has none.
func (h history) pod(o object) (map[string]Usage, bool) {
	all := map[string]Usage{}
	for container := range h.last[o] {
		u, ok := h.usage(o, container)
		if !ok {
			return nil, false
		}
		all[container] = u
	}
	return all, len(all) > 0
}
