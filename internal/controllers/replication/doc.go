// Package replication runs ReplicationControllers, the elder sibling of
// ReplicaSets with a plain map for a selector. The work is done by
// podcontrol/replicas.
package replication
