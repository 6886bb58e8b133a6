// Package inject applies injected faults (package faults) to a server. [Injector] decorates the
// handler, the verbs and the admission chain of writes; [Breaker] ends watches and leases. A
// server without faults uses neither.
package inject
