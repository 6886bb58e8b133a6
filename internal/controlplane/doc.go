// Package controlplane assembles both sides of the wire in one process: the store and the
// API server on one, the controllers, the scheduler and the simulated nodes on the other.
// Within the process the wire is memory: the same requests go through the same handler,
// without sockets and TLS.
//
// The client side can also run alone, against any Kubernetes API server: see
// RunControllers, RunScheduler and RunNodes.
//
// # Concurrency
//
// A ControlPlane may be used from any goroutine. Start returns when the server answers and
// all other parts are starting. Stop ends the client side first, then the server's
// requests, then the store, so that running work can finish; it may be called more than
// once.
package controlplane
