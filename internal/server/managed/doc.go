// Package managed maintains metadata.managedFields, the record of which manager owns which field of an object, with
// kube-apiserver's results.
//
// It works on JSON text. Parts that are equal in both texts are compared as bytes and not parsed, so the cost of an
// update grows with the size of its change. A create is a comparison with the empty object and costs one pass over
// the new object. Objects given as Go structs are encoded only where they differ. The openapi.Shape of a type
// describes which fields its lists and maps divide into.
//
// Field sets are trees in the form and order of FieldsV1. Entries of managers that a write does not affect keep
// their text.
//
// Apply merges an applied configuration as text: it prunes the fields that its manager applied before and now
// omits, and takes fields from other managers only by force. Conflicts, errors and irregular input go to
// apimachinery's managedfields. That package defines the right result of every write, and the tests compare the
// two.
//
// # Concurrency
//
// All functions are pure and may be called from any goroutine.
package managed
