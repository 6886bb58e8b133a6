// Package resourceclaim makes the ResourceClaims that pods ask for by a template, and
// ends what pods that are done leave behind.
//
// A claim of a pod is generated under the pod's name and the claim's name in the pod,
// owned by the pod, and named in the pod's status, by which scheduler and kubelet find
// it. One that somebody deletes while the pod needs it is made anew.
//
// A claim is reserved for the pods that use it; whoever is done or gone is taken out of
// status.reservedFor. When the last one is, the claim's devices are given back: its
// allocation and finalizer go, and a generated claim goes with them. For a pod that was
// bound without the scheduler's doing the reservation is made here.
//
// # Concurrency
//
// Pods and claims have a loop of their own each. A pod's pass begins only when the cache
// shows the claims that the last one made.
package resourceclaim
