// Package leader elects one of several processes to do work that must not run twice, by a
// Lease of coordination.k8s.io, with the rules and fields of client-go's leader election:
// the two exclude each other.
//
// The holder renews the lease every RetryPeriod. A holder that could not renew it for
// RenewDeadline stops working, before LeaseDuration has passed and another may take over.
// Each candidate measures the age of a lease by its own clock, from the moment when it saw
// the lease change. So clocks need not agree, only run at about the same rate. As in
// client-go, work that does not stop between the deadline and the duration may overlap with
// the next holder's.
//
// In a coordinated election (KEP-4355) the API server chooses the holder: by default the process that emulates the oldest
// version of Kubernetes, so that a cluster whose parts are upgraded one after another keeps its behaviour until all are. Each
// process has a LeaseCandidate of its identity's name, by which the server pings it. The server makes a process the holder, and
// the process renews the lease until the server prefers another one. It then stops working and releases the lease.
//
// # Concurrency
//
// Run blocks; it calls work in a goroutine of its own and returns when work has returned. In a coordinated election another
// goroutine renews the LeaseCandidate until Run returns.
// Several Runs are independent of each other.
package leader
