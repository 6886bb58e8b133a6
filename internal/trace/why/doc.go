// Package why explains why an object is in its state, or which event it waits for. It
// uses the object's status, the Events about it, the objects that it depends on (the pods
// of a workload, the claims of a pod), and the lives of its changes: the watchers that
// received them, the controllers that reconciled them, and their results.
//
// Explain knows the status of Kubernetes' own kinds; of other kinds it reads the common
// parts: deletion, finalizers, generation and conditions. It makes no requests: a Subject
// has all of its input. Relations finds what an object owns, uses and is used by, of which
// Links are those for which it waits.
package why
