package numa

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Annotation of a Node is its Machine, in YAML or JSON.
const Annotation = "fairlead.dev/machine"

// APIVersion and Kind are those of a machine.
const (
	APIVersion = "config.fairlead.dev/v1alpha1"
	Kind       = "Machine"
)

// maxNodes is the largest number of NUMA nodes with which a kubelet's topology manager works by default.
const maxNodes = 8

// Machine is the hardware of a node.
type Machine struct {
	metav1.TypeMeta `json:",inline"`
	// ThreadsPerCore is the number of CPUs of a physical core; 1 by default.
	ThreadsPerCore int    `json:"threadsPerCore,omitempty"`
	NUMANodes      []Node `json:"numaNodes"`
}

// Node is a NUMA node. The sum of all is the capacity of the machine.
type Node struct {
	CPUs    int                         `json:"cpus"`
	Memory  resource.Quantity           `json:"memory"`
	Devices map[corev1.ResourceName]int `json:"devices,omitempty"`
}

// Parse reads a machine in YAML or JSON.
func Parse(text []byte) (*Machine, error) {
	m := &Machine{}
	if err := yaml.UnmarshalStrict(text, m); err != nil {
		return nil, err
	}
	if m.APIVersion != APIVersion || m.Kind != Kind {
		return nil, fmt.Errorf("want apiVersion %s and kind %s", APIVersion, Kind)
	}
	m.ThreadsPerCore = max(1, m.ThreadsPerCore)
	if n := len(m.NUMANodes); n < 1 || n > maxNodes {
		return nil, fmt.Errorf("numaNodes: want 1 to %d", maxNodes)
	}
	for i := range m.NUMANodes {
		n := &m.NUMANodes[i]
		if n.CPUs <= 0 || n.CPUs%m.ThreadsPerCore != 0 || n.Memory.Sign() <= 0 {
			return nil, fmt.Errorf("numaNodes[%d]: want cpus, a multiple of threadsPerCore, and memory", i)
		}
		for name, count := range n.Devices {
			if count < 0 {
				return nil, fmt.Errorf("numaNodes[%d].devices: %s: must not be negative", i, name)
			}
		}
	}
	return m, nil
}

// Capacity returns the sum of the NUMA nodes.
func (m *Machine) Capacity() corev1.ResourceList {
	sum := corev1.ResourceList{}
	add := func(name corev1.ResourceName, q resource.Quantity) {
		total := sum[name]
		total.Add(q)
		sum[name] = total
	}
	for _, n := range m.NUMANodes {
		add(corev1.ResourceCPU, *resource.NewQuantity(int64(n.CPUs), resource.DecimalSI))
		add(corev1.ResourceMemory, n.Memory)
		for name, count := range n.Devices {
			add(name, *resource.NewQuantity(int64(count), resource.DecimalSI))
		}
	}
	return sum
}

// flat returns the machine of a node that declares no hardware: one NUMA node.
func flat(capacity corev1.ResourceList) *Machine {
	return &Machine{ThreadsPerCore: 1, NUMANodes: []Node{{CPUs: int(capacity.Cpu().Value()), Memory: *capacity.Memory()}}}
}

// errNoReservedCPU and errNoReservedMemory are a kubelet's errors when it starts.
var (
	errNoReservedCPU    = errors.New("[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero")
	errNoReservedMemory = errors.New("[memorymanager] you should specify the system reserved memory")
)
