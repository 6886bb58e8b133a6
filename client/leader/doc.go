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
// # Concurrency
//
// Run blocks; it calls work in a goroutine of its own and returns when work has returned.
// Several Runs are independent of each other.
package leader
