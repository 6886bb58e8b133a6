// Command bench runs Fairlead and upstream's kube-apiserver on etcd on one machine, runs
// the same loads on both, and reports the cost of each.
//
// The cost of a load is the CPU time, user and system, that the server's processes spent
// during the load, divided by its operations: on a machine with other users that is far
// steadier than wall time. Even so absolute figures drift, so the servers take turns, round
// after round, and the result is the ratio of the two within a round.
//
// The generator is plain net/http, the same for both: TLS, HTTP/2, the bearer token of a
// service account with all rights by RBAC, JSON unless a load uses another encoding,
// uncompressed responses. Every response is checked, for its code and its number of
// objects: a load with a failed request has no figure.
//
// The loads called cluster measure whole control planes: a Deployment's life, with
// controllers, a scheduler and simulated nodes beside the server. Those called schedulers measure
// schedulers alone, on a server of Fairlead.
package main
