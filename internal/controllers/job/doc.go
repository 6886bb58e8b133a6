// Package job runs Jobs: pods that are to end, counted until enough have
// succeeded or too many have failed.
//
// # Counting
//
// A pod that ended may be deleted before anyone has counted it, and must not be
// counted twice. Hence every pod of a Job bears a finalizer, and counting it
// takes two writes and a half: its UID goes into the Job's
// status.uncountedTerminatedPods, then the finalizer goes, then the UID moves
// from the list into the counter, together with the next batch's UIDs. A crash
// in between repeats a step and counts nothing twice: a UID in the list whose
// pod has no finalizer any more is to be counted, one whose pod has it is not
// yet. Indexed Jobs keep their successes as a set of indexes instead, written
// as "0-3,7", into which an index can go twice without harm.
//
// # Ending
//
// A Job that has what it wants, or has failed, first says so in the condition
// SuccessCriteriaMet or FailureTarget, ends the pods that still run, and takes
// Complete or Failed when all are counted and none is terminating.
//
// After a failure new pods wait 10 s, doubled with each further failure up to
// 10 minutes, unless the Job has a limit per index: then each index waits by
// itself, and its last failed pod is kept, finalizer and all, until its
// successor is created, because that pod bears the count of the index's failures.
//
// # Concurrency
//
//  1. Passes over one Job never overlap.
//  2. A pass begins only when the cache shows the status that the last one
//     wrote, and reckons with the finalizers that it removed.
package job
