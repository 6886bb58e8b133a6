// Package fastproto decodes protobuf into the Go types of k8s.io/api faster than their generated code, and gives up
// on input that it does not support.
//
// Generated code allocates every string, grows every slice item by item, and never shares values between objects. Here
// the plan of a type is made once from its tags: fields are found at their offsets, slices are allocated with their
// final length, and recently seen strings are shared. All this is invisible to the owner of the object.
//
// A [Sharer] goes further, for objects that are never modified: the labels, tolerations, resources or pointers of a
// hundred pods of one Deployment have equal bytes, so it decodes them once and makes all hundred point to the
// result (package intern). Given the previous version of an object, it decodes only the differences: comparing
// bytes with the decoded value needs no further memory and is exact. An update of a pod's status allocates a pod,
// its revision and its status.
//
// The functions return false for types without a plan, for malformed input, and for valid encodings that no encoder
// produces (packed numbers, list items that are not contiguous). The caller then uses the generated code; a nested
// type without a plan is decoded by its own code directly. Tests compare both for every kind of the scheme.
//
// # Concurrency
//
// Unmarshal may be called from any goroutine. A Sharer may be used by one goroutine at a time. No function retains
// its input.
package fastproto
