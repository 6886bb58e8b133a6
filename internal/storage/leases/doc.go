// Package leases is the table of leases of an embedded store, with the queue in which they
// expire. It has no lock and no goroutine.
package leases
