// Package lives reads the lives of events from a Fairlead server, and the input of an
// explanation by package internal/trace/why from any Kubernetes API server: an object, the
// Events about it, the objects that it depends on, and the lives of their last changes. It also
// reads maps of objects and their relations.
//
// All requests are made as the client's user. Parts of the trace or Events that the user
// may not read are missing from an explanation; it is an error if the user may not read the
// object.
//
// # Concurrency
//
// The package has no state and starts no goroutine.
package lives
