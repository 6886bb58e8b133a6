// Package resourceclaim creates the ResourceClaims of pods from templates, and releases claims of finished pods.
//
// A pod's claim gets a generated name from the pod's name and the claim's name in the pod. It is owned by the pod,
// and recorded in the pod's status, where scheduler and kubelet look it up. A claim that is deleted while the pod
// needs it is created again.
//
// A claim is reserved for the pods that use it; finished and deleted ones are removed from status.reservedFor.
// After the last one, the claim's devices are released: its allocation and finalizer are removed, and a generated
// claim is deleted. For a pod that was bound without the scheduler, the reservation is made here.
//
// # Concurrency
//
// Pods and claims have a loop of their own each. A pod's pass begins only when the cache has the claims that the
// last one created.
package resourceclaim
