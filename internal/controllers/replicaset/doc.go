// Package replicaset runs ReplicaSets: as many active pods of the template as
// the spec asks for, claimed by selector, and a status that says how many
// exist, are ready, are available and are on their way out. The work is done
// by podcontrol/replicas.
package replicaset
