package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// podLevel reports whether a resource may be specified at pod level.
func podLevel(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || isHugePages(name)
}

// restarts reports whether an init container is a sidecar.
func restarts(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// sum returns the peak demand of the containers: all that run at the same time, or one init container with the
// sidecars started before it.
func sum(s *corev1.PodSpec, of func(*corev1.Container) corev1.ResourceList) corev1.ResourceList {
	total, beside, peak := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range s.Containers {
		add(total, of(&s.Containers[i]))
	}
	for i := range s.InitContainers {
		c := &s.InitContainers[i]
		if restarts(c) {
			add(total, of(c))
			add(beside, of(c))
			raise(peak, beside)
			continue
		}
		now := corev1.ResourceList{}
		add(now, beside)
		add(now, of(c))
		raise(peak, now)
	}
	raise(total, peak)
	return total
}

func add(to, list corev1.ResourceList) {
	for name, amount := range list {
		have, ok := to[name]
		if !ok {
			have = resource.Quantity{Format: amount.Format}
		}
		have.Add(amount)
		to[name] = have
	}
}

func raise(to, list corev1.ResourceList) {
	for name, amount := range list {
		if have, ok := to[name]; !ok || have.Cmp(amount) < 0 {
			to[name] = amount.DeepCopy()
		}
	}
}
