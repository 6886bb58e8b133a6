package numa

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/node/kubeletconfig"
)

// Manager allocates the resources of one machine. Make it with New.
type Manager struct {
	machine  *Machine
	config   *kubeletconfig.Config
	cpus     []int   // of each NUMA node that are not reserved
	physical []int   // the same, without the other threads of reserved cores
	memory   []int64 // of each NUMA node that is not reserved
	byPod    map[types.UID][]allotment
}

// allotment is what a container has of the machine.
type allotment struct {
	cpus    []int // of each NUMA node
	nodes   set   // of its memory
	memory  int64
	devices map[corev1.ResourceName][]int
}

// Acts reports whether a node with a machine and a configuration needs a Manager: a policy acts, or devices are on its NUMA nodes.
func Acts(m *Machine, c *kubeletconfig.Config) bool {
	return c.CPUManagerPolicy == kubeletconfig.StaticCPUs || c.MemoryManagerPolicy == kubeletconfig.StaticMemory ||
		m != nil && slices.ContainsFunc(m.NUMANodes, func(n Node) bool { return len(n.Devices) > 0 })
}

// New returns the manager of a machine on which no pods run. A nil machine has one NUMA node with the capacity. The errors are
// those for which a kubelet does not start.
func New(machine *Machine, capacity corev1.ResourceList, c *kubeletconfig.Config) (*Manager, error) {
	if machine == nil {
		machine = flat(capacity)
	}
	m := &Manager{machine: machine, config: c, byPod: map[types.UID][]allotment{}}
	reserved := c.Reserved(corev1.ResourceCPU)
	left := int((reserved.MilliValue() + 999) / 1000)
	if c.CPUManagerPolicy == kubeletconfig.StaticCPUs && left == 0 {
		return nil, errNoReservedCPU
	}
	if c.MemoryManagerPolicy == kubeletconfig.StaticMemory && len(c.ReservedMemory) == 0 {
		return nil, errNoReservedMemory
	}
	for i := range machine.NUMANodes {
		n := &machine.NUMANodes[i]
		taken := min(left, n.CPUs)
		left -= taken
		m.cpus = append(m.cpus, n.CPUs-taken)
		m.physical = append(m.physical, n.CPUs-(taken+machine.ThreadsPerCore-1)/machine.ThreadsPerCore*machine.ThreadsPerCore)
		m.memory = append(m.memory, n.Memory.Value())
	}
	for _, r := range c.ReservedMemory {
		if int(r.NUMANode) >= len(m.memory) {
			return nil, fmt.Errorf("the reserved memory configuration references a NUMA node %d that does not exist on this machine", r.NUMANode)
		}
		q := r.Limits[corev1.ResourceMemory]
		m.memory[r.NUMANode] -= q.Value()
	}
	return m, nil
}

// Has reports whether a pod has an allocation.
func (m *Manager) Has(pod types.UID) bool { return m.byPod[pod] != nil }

// Release frees the resources of a pod.
func (m *Manager) Release(pod types.UID) { delete(m.byPod, pod) }

// Admit allocates the resources of a pod, or returns why the node refuses it.
func (m *Manager) Admit(pod *corev1.Pod) (reason, message string) {
	if m.Has(pod.UID) {
		return "", ""
	}
	m.byPod[pod.UID] = []allotment{}
	err := m.admit(pod)
	if err == nil {
		return "", ""
	}
	delete(m.byPod, pod.UID)
	if known, ok := err.(refusal); ok {
		return known.reason, known.message
	}
	return "UnexpectedAdmissionError", fmt.Sprintf("Allocate failed due to %v, which is unexpected", err)
}

// refusal is an error with a reason of its own.
type refusal struct{ reason, message string }

func (r refusal) Error() string { return r.message }

var misaligned = refusal{"TopologyAffinityError", "Resources cannot be allocated with Topology locality"}

func (m *Manager) admit(pod *corev1.Pod) error {
	nowhere := hint{anywhere: true}
	if m.config.TopologyManagerScope == kubeletconfig.PodScope && m.config.AlignsTopology() {
		var ok bool
		if nowhere, ok = m.align(m.podWants(pod)); !ok {
			return misaligned
		}
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if err := m.place(pod, c, nowhere, admission.IsSidecar(c)); err != nil {
			return err
		}
	}
	for i := range pod.Spec.Containers {
		if err := m.place(pod, &pod.Spec.Containers[i], nowhere, true); err != nil {
			return err
		}
	}
	return nil
}

// place allocates the resources of a container, on the nodes of a hint or, in the scope of containers, on its own. Resources that
// it does not keep are only tried.
func (m *Manager) place(pod *corev1.Pod, c *corev1.Container, of hint, keeps bool) error {
	w := m.wants(pod, c)
	if m.config.TopologyManagerScope != kubeletconfig.PodScope && m.config.AlignsTopology() {
		var ok bool
		if of, ok = m.align(w); !ok {
			return misaligned
		}
	}
	a := allotment{devices: map[corev1.ResourceName][]int{}}
	var err error
	if a.cpus, err = m.takeCPUs(w.cpus, of); err != nil {
		return err
	}
	if a.nodes, err = m.takeMemory(w.memory, of); err != nil {
		return err
	}
	a.memory = w.memory
	for _, name := range slices.Sorted(maps.Keys(w.devices)) {
		if a.devices[name], err = m.takeDevices(name, w.devices[name], of); err != nil {
			return err
		}
	}
	if keeps {
		m.byPod[pod.UID] = append(m.byPod[pod.UID], a)
	}
	return nil
}

// align returns the nodes for resources by the policy of the topology manager; ok is false if it refuses them.
func (m *Manager) align(w wants) (_ hint, ok bool) {
	n := len(m.machine.NUMANodes)
	resources := m.hints(w)
	single := m.config.TopologyManagerPolicy == kubeletconfig.SingleNUMANode
	if single {
		resources = singles(resources)
	}
	best := merge(n, resources)
	ok = best.preferred || m.config.TopologyManagerPolicy == kubeletconfig.BestEffort
	if best.nodes == all(n) && single {
		best.anywhere = true
	}
	return best, ok
}
