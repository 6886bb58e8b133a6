package kubeletconfig

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Policies of the managers of a kubelet, and the scopes of the topology manager.
const (
	NoCPUs         = "none"
	StaticCPUs     = "static"
	NoMemory       = "None"
	StaticMemory   = "Static"
	NoTopology     = "none"
	BestEffort     = "best-effort"
	Restricted     = "restricted"
	SingleNUMANode = "single-numa-node"
	ContainerScope = "container"
	PodScope       = "pod"
)

// fullCores is the option of the CPU manager to allocate whole cores alone.
const fullCores = "full-pcpus-only"

// ReservedMemory is memory of a NUMA node that is not for pods.
type ReservedMemory struct {
	NUMANode int32   `json:"numaNode"`
	Limits   Amounts `json:"limits"`
}

func (c *Config) defaultManagers() {
	c.CPUManagerPolicy = cmp.Or(c.CPUManagerPolicy, NoCPUs)
	c.MemoryManagerPolicy = cmp.Or(c.MemoryManagerPolicy, NoMemory)
	c.TopologyManagerPolicy = cmp.Or(c.TopologyManagerPolicy, NoTopology)
	c.TopologyManagerScope = cmp.Or(c.TopologyManagerScope, ContainerScope)
}

func (c *Config) validateManagers() (errs field.ErrorList) {
	for name, of := range map[string]struct {
		value string
		known []string
	}{
		"cpuManagerPolicy":      {c.CPUManagerPolicy, []string{NoCPUs, StaticCPUs}},
		"memoryManagerPolicy":   {c.MemoryManagerPolicy, []string{NoMemory, StaticMemory}},
		"topologyManagerPolicy": {c.TopologyManagerPolicy, []string{NoTopology, BestEffort, Restricted, SingleNUMANode}},
		"topologyManagerScope":  {c.TopologyManagerScope, []string{ContainerScope, PodScope}},
	} {
		if of.value != "" && !slices.Contains(of.known, of.value) {
			errs = append(errs, field.NotSupported(field.NewPath(name), of.value, of.known))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.CPUManagerPolicyOptions)) {
		at := field.NewPath("cpuManagerPolicyOptions").Key(name)
		if _, err := strconv.ParseBool(c.CPUManagerPolicyOptions[name]); err != nil {
			errs = append(errs, field.Invalid(at, c.CPUManagerPolicyOptions[name], "must be true or false"))
		}
		if name != fullCores {
			errs = append(errs, field.NotSupported(at, name, []string{fullCores}))
		}
	}
	for i, r := range c.ReservedMemory {
		if r.NUMANode < 0 {
			errs = append(errs, field.Invalid(field.NewPath("reservedMemory").Index(i).Child("numaNode"), r.NUMANode, "must not be negative"))
		}
	}
	return errs
}

// FullCores reports whether CPUs are allocated by whole cores.
func (c *Config) FullCores() bool {
	full, _ := strconv.ParseBool(c.CPUManagerPolicyOptions[fullCores])
	return full
}

// AlignsTopology reports whether the topology manager has a policy.
func (c *Config) AlignsTopology() bool { return c.TopologyManagerPolicy != NoTopology }
