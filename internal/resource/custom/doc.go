// Package custom makes rows of the table of CustomResourceDefinitions.
//
// A [Kind] is one definition, and [Kind.Resources] the rows of its served
// versions: each version has a row of its own, since each has its own schema,
// columns, subresources and selectable fields. The rows share the objects,
// which are stored in the one storage version, in JSON, under
// /registry/GROUP/PLURAL.
//
// # What happens to an object
//
// A body is coerced: what the schema of its version has no place for is dropped
// (pruning), as is a null where null may not be; then it is defaulted. Rules see
// it in the version of the path. They are those of a status and a generation
// that counts everything but metadata, then the schema's (values, lists that are
// sets or maps, embedded objects, CEL), of which an update is spared what was
// wrong before and has not changed (ratcheting). At the end it is converted to
// the storage version.
//
// An object that is read was perhaps written under an older definition. So it is
// coerced and defaulted by the schema of the version it was stored in,
// converted, and coerced again. What was written since the definition last
// changed, [Kind.Since], needs none of that: in the storage version its bytes
// are the answer.
//
// # What it costs
//
// Nearly all objects are as their schema has them. So a version has, beside upstream's
// forms of its schema, a plan, which says that there is nothing to coerce and fills in
// defaults, and a check, which says that values are good. Both may say that they do not
// know; then upstream's functions are asked, and what they say is said. The tests hold the
// quick answers against theirs.
//
// A Kind that nobody uses is its names and the definition's stored bytes, which
// the watch cache holds anyway. Schemas are read and their rules compiled when
// the first object is read or written; the environment of CEL is built with the
// first rule in the process.
//
// # Concurrency
//
// A Kind and its rows may be used from any goroutine. A conversion webhook is
// called by the goroutine that needs the object.
package custom
