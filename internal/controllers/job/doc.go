// Package job is the Job controller: it runs pods to completion, and counts them until enough have succeeded or too
// many have failed.
//
// # Counting
//
// A finished pod may be deleted before it is counted, and must not be counted twice. Hence every pod of a Job has a
// finalizer, and counting it takes two and a half writes: its UID is added to the Job's
// status.uncountedTerminatedPods, then the finalizer is removed, then the UID moves from the list to the counter,
// together with the next batch's UIDs. A crash in between repeats a step without counting twice: a UID in the list
// whose pod no longer has the finalizer is to be counted, one whose pod has it is not yet. Indexed Jobs keep their
// successes as a set of indexes instead, written as "0-3,7", to which an index can safely be added twice.
//
// # Completion
//
// A Job that has reached its completions, or has failed, first gets the condition SuccessCriteriaMet or
// FailureTarget; then its running pods are deleted, and it gets Complete or Failed when all are counted and gone.
//
// After a failure, new pods wait 10 s, doubled with each further failure up to 10 minutes, unless the Job has a
// limit per index: then each index waits by itself, and its last failed pod is kept with its finalizer until its
// successor is created, because that pod carries the count of the index's failures.
//
// # Concurrency
//
//  1. Passes over one Job never overlap.
//  2. A pass begins only when the cache has the status that the last one
//     wrote, and takes into account the finalizers that it removed.
package job
