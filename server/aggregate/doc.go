// Package aggregate keeps the API services: one for each version of a group that the
// server serves itself.
//
// Those of what is built in are among the objects that a cluster starts with. They are
// set right when the server starts, and those of a version that is not built in any more
// are removed then; what users do to them afterwards is theirs to do. Those of what
// definitions define come and go with it, and what users change of them is changed
// back. Without the label kube-aggregator.kubernetes.io/automanaged an API service is
// left alone.
//
// # Concurrency
//
//  1. Methods may be called from any goroutine.
//  2. [Services.Run] is one goroutine, which waits for events of API services and for
//     other custom kinds to be served.
package aggregate
