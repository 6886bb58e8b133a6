package numa

import (
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/node/kubeletconfig"
)

// wants are the resources that are allocated exclusively.
type wants struct {
	cpus    int
	memory  int64
	devices map[corev1.ResourceName]int
}

// wants returns those of a container: whole CPUs and memory of Guaranteed pods, as far as policies act, and devices.
func (m *Manager) wants(pod *corev1.Pod, c *corev1.Container) wants {
	w := wants{devices: map[corev1.ResourceName]int{}}
	if admission.QOSClass(pod) == corev1.PodQOSGuaranteed && pod.Spec.Resources == nil {
		cpu, memory := c.Resources.Requests[corev1.ResourceCPU], c.Resources.Requests[corev1.ResourceMemory]
		if m.config.CPUManagerPolicy == kubeletconfig.StaticCPUs && cpu.MilliValue()%1000 == 0 {
			w.cpus = int(cpu.Value())
		}
		if m.config.MemoryManagerPolicy == kubeletconfig.StaticMemory {
			w.memory = memory.Value()
		}
	}
	for name, q := range c.Resources.Limits {
		if m.devices(name) > 0 && q.Value() > 0 {
			w.devices[name] = int(q.Value())
		}
	}
	return w
}

// podWants returns those of a pod: its containers together, or one of its init containers if that wants more.
func (m *Manager) podWants(pod *corev1.Pod) wants {
	sum := wants{devices: map[corev1.ResourceName]int{}}
	for i := range pod.Spec.Containers {
		sum.add(m.wants(pod, &pod.Spec.Containers[i]))
	}
	most := sum
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if w := m.wants(pod, c); admission.IsSidecar(c) {
			sum.add(w)
		} else {
			most.atLeast(w)
		}
	}
	most.atLeast(sum)
	return most
}

func (w *wants) add(o wants) {
	w.cpus, w.memory = w.cpus+o.cpus, w.memory+o.memory
	for name, n := range o.devices {
		w.devices[name] += n
	}
}

func (w *wants) atLeast(o wants) {
	w.cpus, w.memory = max(w.cpus, o.cpus), max(w.memory, o.memory)
	for name, n := range o.devices {
		w.devices[name] = max(w.devices[name], n)
	}
}

// devices returns how many devices of a resource the machine has.
func (m *Manager) devices(name corev1.ResourceName) (sum int) {
	for i := range m.machine.NUMANodes {
		sum += m.machine.NUMANodes[i].Devices[name]
	}
	return sum
}
