// Package resourceclaim creates the ResourceClaims of pods and pod groups from templates, and releases claims that are not
// used any more.
//
// A claim that is made for a pod gets a generated name from the pod's name and the claim's name in the pod. It is owned by
// the pod, and recorded in the pod's status, where scheduler and kubelet look it up. A claim that is deleted while the pod
// needs it is created again.
//
// A claim is reserved for the pods that use it; finished and deleted ones are removed from status.reservedFor.
// After the last one, the claim's devices are released: its allocation and finalizer are removed, and a generated
// claim is deleted. For a pod that was bound without the scheduler, the reservation is made here.
//
// # Pod groups
//
// A claim of a pod is its group's if the group has one of the same name and the same claim or template (KEP-5729). One from
// a template is made once for the group, owned by it and recorded in its status, and then in the status of each of its pods.
// A group's claim is reserved for the group in place of the pods, and released when the group is deleted.
//
// # Concurrency
//
// Pods, groups and claims have a loop of their own each. The pass of a pod or group begins only when the cache has the
// claims that the last one created.
package resourceclaim
