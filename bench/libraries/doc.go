// Libraries compares Fairlead's client library with client-go and controller-runtime: the
// same work for each, in one run, every library in a process of its own.
//
//	go run ./libraries                     # all rows, about ten minutes
//	go run ./libraries -rows queue,events  # some
//	go run ./libraries -o json > run.json  # JSON; the table is then on stderr
//
// The rows of informers read from a server that writes prepared bytes, over plain HTTP, so
// that they measure the library. The server runs in the parent; the children measure
// themselves: CPU time of the process, memory as the kernel counts it, allocations as the
// runtime does. The libraries take turns, there and back, and a ratio is taken within a
// round.
package main
