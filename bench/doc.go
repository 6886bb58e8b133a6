// Command bench runs Fairlead and upstream's kube-apiserver on etcd side by side
// on one machine, puts the same loads on both, and says what each costs.
//
// The cost of a load is the CPU time, user and system, that the server's
// processes spent while it ran, divided by the operations in it: on a machine
// that others use too that is far steadier than wall time. Even so absolute
// figures drift, so the servers take turns, round after round, and what counts
// is the ratio of the two within a round.
//
// The generator is plain net/http, the same for both: TLS, HTTP/2, the bearer
// token of a service account that RBAC allows everything, JSON unless a load says
// otherwise, answers not compressed. Every answer is checked, for its code and
// for how much is in it: a load of which one request fails has failed, and has
// no figure.
//
// The loads called cluster are of whole control planes: what becomes of a Deployment,
// with controllers, a scheduler and simulated nodes beside the server.
package main
