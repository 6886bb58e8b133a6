// Package resourcequota computes the usage of ResourceQuotas.
//
// The API server charges a quota before it writes an object; this controller lowers the usage when an object is
// deleted, a pod terminates, or a change lowers an object's usage. It also computes the initial usage of a new
// quota, without which the API server rejects all objects that the quota limits.
//
// A count reads the objects of the quota's namespace from the informers. A quota is counted at most twice a second,
// however many objects are deleted, and at least every five minutes. A charged object may not be in the informer
// yet when its quota is counted, so a count below the charged usage is repeated soon after.
//
// For objects that are only counted, by names like count/jobs.batch, metadata informers are started with the first
// quota that names them.
package resourcequota
