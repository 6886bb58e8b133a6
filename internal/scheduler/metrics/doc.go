// Package metrics counts the work of a scheduler, under kube-scheduler's names.
//
// # Concurrency
//
// A Metrics and its Profiles may be used from any goroutine, except Entered and Rejected, which
// belong to the goroutine that owns the queue. The methods of a nil Metrics or Profile have no
// effect.
package metrics
