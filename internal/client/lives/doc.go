// Package lives reads from a Fairlead server the lives of events, and from any Kubernetes
// API server what an explanation by package internal/trace/why takes: an object, what was noted
// about it, what it stands on, and the lives of their last changes.
//
// Everything is read as the client's user. What he may not read of the trace or of the
// events is missing from an explanation; that he may not read the object is an error.
//
// # Concurrency
//
// The package keeps nothing and starts no goroutine.
package lives
