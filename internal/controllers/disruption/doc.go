// Package disruption is the controller of PodDisruptionBudgets: it counts the healthy
// pods that a budget selects, derives how many may be disrupted now, and writes both
// into the budget's status, from which the eviction subresource takes.
//
// How many pods there should be is asked of what controls them (a Deployment through
// its ReplicaSet, a StatefulSet, a custom resource with a scale), so that pods which
// are missing count as unhealthy. An eviction enters its pod in status.disruptedPods;
// the entry is dropped when the pod is seen to go, or after deletionTimeout if it never
// does. A pod whose DisruptionTarget condition came true and which was then not deleted
// gets it back to false after staleCondition.
//
// What cannot be computed allows no disruption.
package disruption
