// Package disruption is the controller of PodDisruptionBudgets: it counts the healthy pods that a budget selects,
// computes how many may be disrupted now, and writes both into the budget's status, which the eviction subresource
// decrements.
//
// The expected number of pods comes from their controllers (a Deployment through its ReplicaSet, a StatefulSet, a
// custom resource with a scale), so that missing pods count as unhealthy. An eviction adds its pod to
// status.disruptedPods; the entry is removed when the pod is seen terminating, or after deletionTimeout. A pod
// whose DisruptionTarget condition became true but which was not deleted gets it reset to false after
// staleCondition.
//
// If the computation fails, no disruption is allowed.
package disruption
