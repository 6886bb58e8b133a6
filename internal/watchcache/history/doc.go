// Package history keeps the recent changes of one resource.
//
// A [History] is the ring from which watches start and past snapshots are made. Its oldest changes
// are dropped by age and by size. All but the newest MiB is packed: a replaced object is kept as its
// difference to its successor.
//
// A History is guarded by its owner's lock. The slices that View and Unpacked return stay valid
// without it.
package history
