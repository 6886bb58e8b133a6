// Package eviction decides when a node is under pressure and which of its pods end for that reason, as a kubelet's
// eviction manager does: thresholds with grace periods, conditions that stay for a transition period, the rank of pods
// by their usage above their requests, and the limits on ephemeral storage. Messages are a kubelet's.
//
//	m, err := eviction.New(config)
//	p := m.Observe(observations, time.Now())  // conditions, and the threshold to act on
//	victim := eviction.Rank(p.Act, pods)      // in the order in which they end
//
// Inodes are not simulated, so their thresholds are never met. The images of a node take no space on its disk.
//
// The package only computes: the caller observes the usage and ends the pods. A Manager belongs to one goroutine at a
// time.
package eviction
