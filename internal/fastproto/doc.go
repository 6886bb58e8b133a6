// Package fastproto decodes the protobuf of Go types that k8s.io/api generated code for,
// in place of that code, and gives up on what it does not know.
//
// Generated code allocates every string, grows every slice item by item and keeps each
// object to itself. Here the plan of a type is made once from its tags: fields are found
// at their offsets, slices are counted before they are made, and strings that were seen
// lately are shared. That much is invisible to whoever owns the object.
//
// A [Sharer] goes further, for objects that nobody will change: the labels, tolerations,
// resources or pointers of a hundred pods of one Deployment are encoded in the same
// bytes, so it decodes them once and lets all hundred point to the one result (package
// alike). And of an object that it is given the version before of, it decodes only what
// differs: comparing bytes with what they would become needs no memory beside the object
// and is exact. An update of a pod's status makes a pod, its revision and its status.
//
// The functions return false on what they have no plan for, on input that is not well
// formed, and on encodings that are allowed and that nobody writes (packed numbers, the
// items of a list apart from each other). The caller then asks the generated code; a type
// inside another that has no plan is left to its own code at once. Tests compare both for
// every kind of the scheme.
//
// # Concurrency
//
// Unmarshal may be called from any goroutine. A Sharer is one goroutine's at a time. Nothing
// of the input is kept.
package fastproto
