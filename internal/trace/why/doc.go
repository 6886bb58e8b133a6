// Package why explains why an object is in its state, or what it still waits for: from
// what the object says of itself, what was noted about it (events), what it stands on (the
// pods of a workload, the claims of a pod), and from the lives of its changes: who was
// sent them, which controllers looked at them, and what these decided.
//
// Explain knows what Kubernetes' own kinds mean by their status; of other kinds it reads
// what all have in common: deletion, finalizers, generation and conditions. It makes no
// requests: a Subject holds all that it looks at.
package why
