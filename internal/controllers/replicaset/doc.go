// Package replicaset is the ReplicaSet controller: it maintains the desired number of active pods, claimed by
// selector, and a status with the numbers of existing, ready, available and terminating ones. The work is done by
// podcontrol/replicas.
package replicaset
