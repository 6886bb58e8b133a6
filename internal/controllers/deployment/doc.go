// Package deployment is the Deployment controller: it keeps one ReplicaSet per pod template that the Deployment has
// had, and moves replicas between them.
//
// The ReplicaSet whose template equals the Deployment's is the new one; its name contains a hash of the template,
// so that two passes unaware of each other create the same name. All others are old: `kubectl rollout undo` returns
// to them, and revisionHistoryLimit is the number of empty ones kept.
//
// A pass claims the ReplicaSets, ensures that the new one exists and has the highest revision, then does one step:
// after a change of spec.replicas it scales all sets in proportion; otherwise it follows the strategy. A rolling
// update first scales up the new set within maxSurge, then scales down old ones within maxUnavailable, unhealthy
// replicas first. Recreate scales down the old ones, waits until their pods are gone, then scales up the new one. A
// paused Deployment scales and starts no new template. A Deployment with the annotation
// deprecated.deployment.rollback.to is first given the template of that revision. Every other pass ends by writing
// the status, if it has changed; the ReplicaSets' own status causes the next pass.
//
// The decisions about the sizes of sets are pure functions of the objects; see newSetSize, shrinkOld and
// proportions.
//
// # Concurrency
//
//  1. Passes over one Deployment never overlap; passes over different ones do.
//  2. Every write of a ReplicaSet carries the resourceVersion that the decision
//     was made on. A pass over a stale cache ends in a conflict and is repeated.
package deployment
