// Package policy enforces ValidatingAdmissionPolicies and does what
// MutatingAdmissionPolicies say, where a binding puts them to use.
//
// A policy and its binding count for every request that begins after their writes were
// answered, and so do their parameters. While there are none, a request costs the look at
// two revisions, and nothing of CEL is loaded. A policy's expressions are compiled when
// they are first needed, and again when the policy changes; [Checked] has them compiled on
// the write too, so that one that does not compile is refused.
//
// auditAnnotations are computed, since their errors count, and then dropped: there is no
// audit log, and the action Audit does nothing. A policy is checked against the schemas of
// what it matches by a controller, which writes status.typeChecking.
//
// # Concurrency
//
// Plugins may be used from many goroutines; what is compiled is shared and not changed.
package policy
