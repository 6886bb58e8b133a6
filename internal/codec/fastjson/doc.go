// Package fastjson decodes JSON into Go structs, and encodes them, several times faster than a general codec, and
// gives up on input that it does not support.
//
// Decoding is most of a client's cost of a watch; half of a server's cost of a write was decoding the body and the
// stored object and encoding the new one. The input is regular: it was written by programs that encode the same Go
// types, with the fields in order. So the codec of a type is made once; fields are found at their offsets, and the
// next field is looked for first; slices are allocated when their length is known; and recently seen short strings
// (names of labels, images, conditions) are shared instead of copied.
//
// A [Sharer] goes further, for objects that are never modified: pointers, slices and maps with equal bytes in
// several objects are decoded once (package intern), which saves the time and the memory of all but the first.
//
// The same codecs serve to compare two objects, to visit their members one by one, and to decide whether an object
// survives being encoded and decoded unchanged ([RoundTrips]).
//
// The functions return false for a type without a codec, for malformed input, and for a number that does not fit.
// The caller then uses sigs.k8s.io/json or encoding/json, which handle all cases and produce all error messages. A
// difference can therefore only be in input that this package accepts, and tests compare both codecs, both ways,
// for every kind of the scheme.
//
// [AppendTranscoded] converts JSON to a protobuf message in the same manner, without a Go value in between.
//
// # Concurrency
//
// All functions may be called from any goroutine. A Sharer may be used by one goroutine at a time. No function
// retains its input.
package fastjson
