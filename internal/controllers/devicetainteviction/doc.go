// Package devicetainteviction evicts the pods on nodes that use tainted devices (KEP-5055), as kube-controller-manager's
// device-taint-eviction-controller does.
//
// # Taints
//
// A device is tainted by its ResourceSlice, or by each DeviceTaintRule that selects it. Of a pool, the slices of the highest
// generation count; a rule also taints allocated devices that no slice has any more. A taint evicts if its effect is
// NoExecute. An allocation result has copies of the tolerations of its request. One of effect NoExecute tolerates a taint for
// tolerationSeconds from the taint's timeAdded, or for ever without it; of several, the shortest counts. The first taint of
// any device of a pod's claims whose time is over decides.
//
// # Eviction
//
// A pod is deleted after it got the condition DisruptionTarget. A pod counts as a user of a claim if the claim is reserved
// for it or for its group. Events of the pod record an eviction, and that a planned one has been cancelled.
//
// # Rules
//
// The condition EvictionInProgress of a rule is written before its first eviction, and at most every 10 s while its pods are
// evicted. For the effect None it has what NoExecute would do, and is written once for each spec.
//
// # Restarts
//
// The times of evictions are in the objects, so that they survive a restart. A Memory has the rest: which evictions are
// planned, and counts since its creation. The controllers of a control plane share one whenever they wake up.
//
// # Concurrency
//
// Pods and rules have a loop of their own each. The lock of the Memory is not held during requests.
package devicetainteviction
