// Package writetrace enters writes into the trace: when each passed the hops from its arrival to
// the store, and which injected faults have hit it. [Tracer] decorates the server's handler, its
// admission chain and its commits. A server without a trace is not decorated.
package writetrace
