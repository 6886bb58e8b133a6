// Package leader lets one of several processes do a work that must be done once, by a
// Lease of coordination.k8s.io, with the rules and fields of client-go's leader election:
// the two exclude each other.
//
// The holder renews the lease every RetryPeriod. One that could not for RenewDeadline
// stops working, before LeaseDuration has passed and another may take over. How long a
// lease has stood unrenewed is told by each candidate's own clock, from when it saw the
// lease change: clocks need not agree, only run at about the same rate. As there, work
// that does not stop in the time between the deadline and the duration may overlap with
// the next holder's.
//
// # Concurrency
//
// Run blocks; it calls work in a goroutine of its own and returns when that has. Several
// Runs are independent of each other.
package leader
