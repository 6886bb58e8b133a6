// Package fastjson decodes JSON into Go structs several times faster than a general
// decoder, and gives up on what it does not know.
//
// A watch spends nearly all its time decoding: everything else that happens to an event
// on its way to a handler costs a few percent of it. What comes is regular: written by
// a server that encodes the same Go types, fields in their order, no surprises. So the
// plan of a type is made once, fields are looked for where they should come next, slices
// are counted before they are made, and short strings that were seen lately (names of
// labels, images, conditions) are shared instead of copied.
//
// Unmarshal returns false whenever it meets something else: a type it has no plan for,
// input that is not well formed, a number that does not fit. The caller then asks
// sigs.k8s.io/json, which knows all cases and all error messages. So a difference
// between the two can only be in what this package accepts, and a test compares that for
// every kind of the scheme.
//
// # Concurrency
//
// Unmarshal may be called from any goroutine. Nothing of its input is kept.
package fastjson
