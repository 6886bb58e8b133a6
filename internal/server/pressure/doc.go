// Package pressure keeps the process below a limit on its memory by refusing large work in time.
//
// # Contract
//
// A request that will take much memory (a list of large objects, such a state at the start of a watch, a long body) reserves it.
// A [Guard] refuses the reservation with 429 TooManyRequests if the live heap, the memory reserved by others and this one would
// be above three quarters of the limit. Work of less than [Small] bytes reserves nothing and is never refused, so small requests
// go on while large ones are told to come back.
//
// The live heap is that of the last garbage collection. It may have memory that is free by now, so a refusal causes another
// collection, one a second at most.
//
// # Concurrency
//
// A Guard may be used from any goroutine. A [Room] belongs to its request until it is handed over.
package pressure
