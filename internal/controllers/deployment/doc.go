// Package deployment runs Deployments: it keeps one ReplicaSet per pod template
// that the Deployment has had, and moves replicas between them.
//
// The ReplicaSet whose template equals the Deployment's is the new one; its
// name carries a hash of the template, so that two passes that do not see each
// other's work meet at the same name. All others are old: they are what
// `kubectl rollout undo` goes back to, and only as many empty ones are kept as
// revisionHistoryLimit says.
//
// A pass claims the ReplicaSets, makes sure that the new one exists and bears
// the highest revision, then does one step: after a change of spec.replicas it
// scales all sets in proportion; otherwise it follows the strategy. A rolling
// update first grows the new set as far as maxSurge allows, then shrinks old
// ones as far as maxUnavailable allows, unhealthy replicas first. Recreate
// empties the old ones, waits until their pods are gone, then fills the new
// one. A paused Deployment scales and starts no new template. A Deployment that
// bears the annotation deprecated.deployment.rollback.to is first given the
// template of that revision. Every other pass ends by writing the status, if it
// changed; the ReplicaSets' own status brings the next pass.
//
// The decisions (how large which set should be) are pure functions of the
// objects; see newSetSize, shrinkOld and proportions.
//
// # Concurrency
//
//  1. Passes over one Deployment never overlap; passes over different ones do.
//  2. Every write of a ReplicaSet carries the resourceVersion that the decision
//     was made on. A pass over a stale cache ends in a conflict and is repeated.
package deployment
