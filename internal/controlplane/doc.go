// Package controlplane assembles both sides of the wire in one process: the store
// and the API server on one, the controllers, the scheduler and the simulated
// nodes on the other. Inside the process the wire is memory: the same requests go
// through the same handler, with no socket and no TLS between.
//
// The client side can as well run alone, against any Kubernetes API server: see
// RunControllers, RunScheduler and RunNodes.
//
// # Concurrency
//
// A ControlPlane may be used from any goroutine. Start returns when the server
// answers and everything else is on its way. Stop ends the client side first,
// then the server's requests, then the store, so that nothing is cut short that
// could have ended well; it may be called more than once.
package controlplane
