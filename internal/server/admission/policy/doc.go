// Package policy enforces ValidatingAdmissionPolicies and applies MutatingAdmissionPolicies that have a binding.
//
// A policy, its binding and their parameters apply to every request that begins after their writes have returned.
// Without any, a request costs the comparison of two revisions, and CEL is not loaded. A policy's expressions are
// compiled on first use, and again when the policy changes; [Checked] also compiles them on writes, so that a
// policy that does not compile is rejected.
//
// auditAnnotations are evaluated, because their errors count, and discarded: there is no audit log, and the action
// Audit has no effect. A controller checks policies against the schemas of the resources they match and writes
// status.typeChecking.
//
// # Concurrency
//
// Plugins may be used from many goroutines; compiled policies are shared and immutable.
package policy
