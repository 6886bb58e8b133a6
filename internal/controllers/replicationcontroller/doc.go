// Package replicationcontroller is the ReplicationController controller. ReplicationControllers are the predecessor of
// ReplicaSets, with a plain map as selector. The work is done by podcontrol/replicas.
package replicationcontroller
