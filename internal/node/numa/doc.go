// Package numa allocates the CPUs, memory and devices of a simulated machine to pods, with the policies of a kubelet's CPU
// manager, memory manager, device manager and topology manager, and refuses pods in their words.
//
//	m, err := numa.New(machine, capacity, config)
//	reason, message := m.Admit(pod)   // allocates unless it refuses
//	m.Release(pod.UID)
//
// Allocations are numbers for each NUMA node: single CPUs have no names. CPUs of init containers are free for the containers
// that follow. Huge pages are not aligned.
//
// A Manager belongs to one goroutine at a time.
package numa
