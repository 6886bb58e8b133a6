package node

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/node/eviction"
	"fairlead.dev/internal/node/kubeletconfig"
	"fairlead.dev/internal/node/numa"
)

// KubeletConfigAnnotation of a Node is the KubeletConfiguration of its kubelet, in YAML or JSON.
const KubeletConfigAnnotation = kubeletconfig.Annotation

// SystemUsageAnnotation of a Node is the usage of its machine beside that of its pods: memory=200Gi,
// ephemeral-storage=80Gi,processes=30000.
const SystemUsageAnnotation = eviction.SystemAnnotation

// MachineAnnotation of a Node is its hardware, in YAML or JSON: the NUMA nodes with their CPUs, memory and devices.
const MachineAnnotation = numa.Annotation

// settings are those of a node's annotations.
type settings struct {
	configText, usageText, machineText string

	config  *kubeletconfig.Config // nil for the default
	usage   eviction.Usage        // of the system
	machine *numa.Machine         // nil for one that is not declared
	numa    *numa.Manager         // nil until the first pod is admitted, and if no policy acts
}

// kubelet returns the configuration.
func (s *settings) kubelet() *kubeletconfig.Config {
	if s.config == nil {
		return kubeletconfig.Default
	}
	return s.config
}

// read takes over the annotations of a Node that have changed. A value that cannot be read is an error, and the former
// one stays.
func (s *settings) read(annotations map[string]string) (changed bool, err error) {
	if text, machine := annotations[KubeletConfigAnnotation], annotations[MachineAnnotation]; text != s.configText || machine != s.machineText {
		s.configText, s.machineText, changed = text, machine, true
		next, invalid := readKubelet(text, machine)
		if err = invalid; err == nil {
			s.config, s.machine, s.numa = next.config, next.machine, nil
		}
	}
	if text := annotations[SystemUsageAnnotation]; text != s.usageText {
		s.usageText, changed = text, true
		usage, invalid := eviction.ParseUsage(text)
		if invalid == nil {
			s.usage = usage
		} else {
			err = invalidAnnotation{SystemUsageAnnotation, invalid}
		}
	}
	return changed, err
}

// readKubelet reads a configuration and a machine, and whether a kubelet starts with them.
func readKubelet(config, machine string) (s settings, err error) {
	if machine != "" {
		if s.machine, err = numa.Parse([]byte(machine)); err != nil {
			return s, invalidAnnotation{MachineAnnotation, err}
		}
	}
	if config == "" {
		return s, nil
	}
	if s.config, err = kubeletconfig.Parse([]byte(config)); err == nil {
		_, err = eviction.New(s.config)
	}
	if err == nil {
		_, err = numa.New(s.machine, nil, s.config)
	}
	if err != nil {
		return s, invalidAnnotation{KubeletConfigAnnotation, err}
	}
	return s, nil
}

// invalidAnnotation is the error of an annotation of a Node.
type invalidAnnotation struct {
	name string
	err  error
}

func (e invalidAnnotation) Error() string { return e.name + ": " + e.err.Error() }

// managed returns the manager of the machine's CPUs, memory and devices; nil if no policy acts. fresh reports that it has just
// been made and knows no pods.
func (s *settings) managed(capacity corev1.ResourceList) (m *numa.Manager, fresh bool) {
	if s.numa != nil {
		return s.numa, false
	}
	if s.config == nil && s.machine == nil || !numa.Acts(s.machine, s.kubelet()) {
		return nil, false
	}
	m, err := numa.New(s.machine, capacity, s.kubelet())
	if err != nil {
		return nil, false // readKubelet has checked it
	}
	s.numa = m
	return m, true
}

// limits returns the capacity of a node and its allocatable resources. With a configuration of its own a node keeps back
// the reserved resources and those of the hard eviction thresholds.
func (s *settings) limits(capacity corev1.ResourceList) (all, allocatable corev1.ResourceList) {
	all = capacity.DeepCopy()
	if s.machine != nil {
		maps.Copy(all, s.machine.Capacity())
	}
	if s.config == nil {
		return all, all.DeepCopy()
	}
	if n := s.config.MaxPods; n > 0 {
		all[corev1.ResourcePods] = *resource.NewQuantity(int64(n), resource.DecimalSI)
	}
	allocatable = all.DeepCopy()
	kept := map[corev1.ResourceName]resource.Quantity{}
	if m, err := eviction.New(s.config); err == nil {
		maps.Copy(kept, m.Hard(all))
	}
	for name, q := range allocatable {
		q.Sub(kept[name])
		q.Sub(s.config.Reserved(name))
		if q.Sign() < 0 {
			q = *resource.NewQuantity(0, q.Format)
		}
		allocatable[name] = q
	}
	return all, allocatable
}
