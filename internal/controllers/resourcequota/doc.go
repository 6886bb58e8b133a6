// Package resourcequota counts what ResourceQuotas have given out.
//
// The API server charges a quota before it writes an object; this controller gives
// back what objects no longer use: when one is deleted, a pod ends, or something
// changes so that it uses another amount. It also begins the count of a new quota,
// without which the API server lets nothing through that the quota bounds.
//
// A count goes over the objects of the quota's namespace in the informers' stores. A
// quota is counted anew at most once in half a second however many objects go, and
// every five minutes in any case. An object that was charged may not have reached the
// informer when its quota is counted; so a count that found less than was charged is
// made again soon after.
//
// Objects that are only counted, by names like count/jobs.batch, are followed by
// their metadata, from the first quota on that names them.
package resourcequota
