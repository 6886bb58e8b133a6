// Package fastjson decodes JSON into Go structs, and encodes them, several times faster
// than a general codec, and gives up on what it does not know.
//
// Nearly all that a watch costs a client is decoding; of what a write costs a server,
// half was decoding the body and the stored object and encoding the new one. What comes
// is regular: written by programs that encode the same Go types, fields in their order,
// no surprises. So the plan of a type is made once, fields are found at their offsets and
// looked for where they should come next, slices are made when their length is known, and
// short strings that were seen lately (names of labels, images, conditions) are shared
// instead of copied.
//
// A [Sharer] goes further, for objects that nobody will change: pointers, slices and maps
// that several objects have in the same bytes are decoded once (package alike), which
// saves the time and the memory of all but the first.
//
// Two objects can be compared by the same plans, and their members taken one by one; and
// [Settled] tells whether an object would survive being encoded and decoded as it is.
//
// The functions return false whenever they meet something else: a type that they have no
// plan for, input that is not well formed, a number that does not fit. The caller then
// asks sigs.k8s.io/json or encoding/json, which know all cases and all error messages. So
// a difference between the two can only be in what this package accepts, and tests
// compare that for every kind of the scheme, both ways.
//
// [Transcode] makes a protobuf message of JSON in the same spirit, without the Go value in
// between.
//
// # Concurrency
//
// All functions may be called from any goroutine. A Sharer is one goroutine's at a time. Nothing of their input is kept.
package fastjson
