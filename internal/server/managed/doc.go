// Package managed keeps the record of who set which field of an object, its
// managedFields, as kube-apiserver does.
//
// It works on JSON text. What two texts have in common is compared as bytes and
// not looked into, so that a write costs by what it changes; a create, which is
// the comparison with the empty object, costs one pass over the new one. Of objects
// that are Go structs, only what differs is made text at all. How a type's lists and
// maps divide into fields is its openapi.Shape.
//
// Sets of fields are trees in the form and order of FieldsV1. The text of
// managers whom a write does not concern is passed on as it is.
//
// An applied configuration is merged here, as text too (Apply), with what its manager
// gives no more taken away, and what it takes from others by force. Of those that are
// in conflict, in error or irregular, apimachinery's managedfields takes care.
// What that package makes of any write is what this one has to make of it, and the
// tests compare the two.
//
// # Concurrency
//
// All functions are pure and may be called from any goroutine.
package managed
