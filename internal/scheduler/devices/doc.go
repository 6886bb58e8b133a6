// Package devices is the scheduler's model of devices (dynamic resource allocation, KEP-4381): the ResourceSlices by
// pool and by node, the DeviceTaintRules merged into them, the DeviceClasses, and what ResourceClaims have taken.
// Upstream's structured allocator chooses devices; this package keeps its input up to date and remembers its answers.
//
// # What is taken
//
// A State counts the devices, shares and capacities of allocated claims when a claim changes, and never sums up all
// claims. A claim counts from the moment at which a pod that uses it gets its node:
//
//	in flight   chosen for a pod, not written yet; other pods that use the claim wait
//	assumed     written by this scheduler; the watch has an older version
//	seen        as in the watch
//
// Each of the three may be the newest state of a claim, and the newest counts.
//
// # Remembered answers
//
// Whether claims fit a node depends on their specs, the node, the classes, and the slices and the taken devices of the
// pools that the node reaches. Each pool counts its changes. The pods of a workload have equal specs, so an answer
// is valid for the next pod unless one of these counts has changed: of a thousand nodes only the one that the last pod
// took is asked again. For example, two nodes of two devices each, and pods that ask for one device:
//
//	pod  node-1   node-2     asked
//	a    fits *   fits       node-1, node-2
//	b    fits *   (fits)     node-1, because a took a device of its pool
//	c    full     (fits) *   node-1
//	d    (full)   fits *     node-2
//
// Answers in parentheses are remembered, * is the chosen node. A pool that all nodes reach makes each allocation of
// its devices a change for all of them.
//
// # Concurrency
//
//  1. One goroutine at a time uses a State, as it uses the Cluster that the State belongs to.
//  2. A Writer is for other goroutines. It sends what it has written to the goroutine of the State.
package devices
