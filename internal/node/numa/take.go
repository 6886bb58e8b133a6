package numa

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// free returns how much of a resource each NUMA node has left.
func (m *Manager) free(has []int, of func(allotment) []int) []int {
	left := slices.Clone(has)
	for _, list := range m.byPod {
		for _, a := range list {
			for i, n := range of(a) {
				left[i] -= n
			}
		}
	}
	return left
}

func (m *Manager) freeCPUs() []int {
	return m.free(m.cpus, func(a allotment) []int { return a.cpus })
}

func (m *Manager) freeDevices(name corev1.ResourceName) []int {
	has := make([]int, len(m.machine.NUMANodes))
	for i := range has {
		has[i] = m.machine.NUMANodes[i].Devices[name]
	}
	return m.free(has, func(a allotment) []int { return a.devices[name] })
}

func sum(amounts []int, in set) (n int) {
	for i, a := range amounts {
		if in.has(i) {
			n += a
		}
	}
	return n
}

// hints returns those of each resource that is wanted; without any there is no preference.
func (m *Manager) hints(w wants) (resources [][]hint) {
	n := len(m.machine.NUMANodes)
	add := func(list []hint) {
		if len(list) == 0 {
			list = impossible
		}
		resources = append(resources, list)
	}
	if w.cpus > 0 {
		total, free := make([]int, n), m.freeCPUs()
		for i := range total {
			total[i] = m.machine.NUMANodes[i].CPUs
		}
		add(hints(n, func(s set) bool { return sum(total, s) >= w.cpus }, func(s set) bool { return sum(free, s) >= w.cpus }))
	}
	if w.memory > 0 {
		if list := m.memoryHints(w.memory); len(list) > 0 {
			add(list)
		} else {
			add(noPreference) // as with a kubelet, whose memory manager refuses it when it allocates
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.devices)) {
		total, free, want := make([]int, n), m.freeDevices(name), w.devices[name]
		for i := range total {
			total[i] = m.machine.NUMANodes[i].Devices[name]
		}
		add(hints(n, func(s set) bool { return sum(total, s) >= want }, func(s set) bool { return sum(free, s) >= want }))
	}
	if resources == nil {
		resources = [][]hint{noPreference}
	}
	return resources
}

// take takes a number from the nodes of the hint first, then from others: of these, from those with the least that is left.
func take(free []int, n int, of hint) []int {
	taken := make([]int, len(free))
	order := make([]int, len(free))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		aligned := func(i int) int {
			if of.anywhere || of.nodes.has(i) {
				return 0
			}
			return 1
		}
		fits := func(i int) int {
			if free[i] >= n {
				return 0
			}
			return 1
		}
		return cmp.Or(aligned(a)-aligned(b), fits(a)-fits(b), free[a]-free[b])
	})
	for _, i := range order {
		taken[i] = min(free[i], n)
		n -= taken[i]
	}
	return taken
}

func (m *Manager) takeCPUs(n int, of hint) ([]int, error) {
	if n == 0 {
		return nil, nil
	}
	free, everywhere := m.freeCPUs(), all(len(m.cpus))
	if threads := m.machine.ThreadsPerCore; m.config.FullCores() {
		physical := max(0, sum(m.physical, everywhere)-sum(m.cpus, everywhere)+sum(free, everywhere))
		switch {
		case n%threads != 0:
			return nil, refusal{"SMTAlignmentError", fmt.Sprintf("SMT Alignment Error: requested %d cpus not multiple cpus per core = %d", n, threads)}
		case n > physical:
			return nil, refusal{"SMTAlignmentError", fmt.Sprintf("SMT Alignment Error: not enough free physical CPUs: available physical CPUs = %d, requested CPUs = %d, CPUs per core = %d", physical, n, threads)}
		}
	}
	if has := sum(free, everywhere); n > has {
		return nil, fmt.Errorf("not enough cpus available to satisfy request: requested=%d, available=%d", n, has)
	}
	return take(free, n, of), nil
}

func (m *Manager) takeDevices(name corev1.ResourceName, n int, of hint) ([]int, error) {
	free := m.freeDevices(name)
	if has := sum(free, all(len(free))); n > has {
		return nil, fmt.Errorf("requested number of devices unavailable for %s. Requested: %d, Available: %d", name, n, has)
	}
	return take(free, n, of), nil
}

// memoryState is the memory of a NUMA node.
type memoryState struct {
	free  int64
	group set // the nodes over which its present allotments extend; 0 without one
}

func (m *Manager) memoryStates() []memoryState {
	states := make([]memoryState, len(m.memory))
	for i := range states {
		states[i].free = m.memory[i]
	}
	for _, list := range m.byPod {
		for _, a := range list {
			left := a.memory
			for i := range states {
				if a.nodes.has(i) {
					taken := min(left, states[i].free)
					states[i].free -= taken
					states[i].group = a.nodes
					left -= taken
				}
			}
		}
	}
	return states
}

// memoryHints returns the sets of nodes that have the memory. A node is part of allotments on one node or of those on one group
// of nodes, never of both.
func (m *Manager) memoryHints(want int64) []hint {
	states := m.memoryStates()
	total := func(s set, of func(int) int64) (sum int64) {
		for i := range states {
			if s.has(i) {
				sum += of(i)
			}
		}
		return sum
	}
	return hints(len(states), func(s set) bool { return total(s, func(i int) int64 { return m.memory[i] }) >= want }, func(s set) bool {
		for i := range states {
			if s.has(i) && states[i].group != 0 && states[i].group != s {
				return false
			}
		}
		return total(s, func(i int) int64 { return states[i].free }) >= want
	})
}

// takeMemory returns the nodes of the memory of a container: those of the hint, or more if these do not have it.
func (m *Manager) takeMemory(n int64, of hint) (set, error) {
	if n == 0 {
		return 0, nil
	}
	possible := m.memoryHints(n)
	best := func(in set) (found hint) {
		for _, h := range possible {
			if in.within(h.nodes) && (found.nodes == 0 || h.preferred && !found.preferred) {
				found = h
			}
		}
		return found
	}
	start := of.nodes
	if of.anywhere {
		start = 0
	}
	h := best(start)
	switch {
	case h.nodes == 0 && start == 0:
		return 0, errors.New("[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available")
	case h.nodes == 0:
		return 0, errors.New("[memorymanager] failed to find NUMA nodes to extend the current topology hint")
	case !h.preferred && of.preferred && start == 0:
		return 0, errors.New("[memorymanager] failed to find the default preferred hint")
	case !h.preferred && of.preferred:
		return 0, errors.New("[memorymanager] failed to find the extended preferred hint")
	}
	return h.nodes, nil
}
