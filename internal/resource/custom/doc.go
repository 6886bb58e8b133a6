// Package custom makes rows of the resource table from CustomResourceDefinitions.
//
// A [Kind] is one definition, and [Kind.Resources] the rows of its served versions: each version has a row of its
// own, because each has its own schema, columns, subresources and selectable fields. The rows share the objects,
// which are stored in the one storage version, in JSON, under /registry/GROUP/PLURAL.
//
// # Processing
//
// A request body is coerced: fields that the schema of its version does not have are dropped (pruning), as is a
// null where null is not allowed; then it is defaulted. The rules see it in the version of the path. They are those
// of a status and a generation that counts everything except metadata, and then the schema's (values, lists that
// are sets or maps, embedded objects, CEL). An update is exempt from errors in unchanged parts (ratcheting).
// Finally the object is converted to the storage version.
//
// A stored object may have been written under an older definition. Reading it therefore coerces and defaults it by
// the schema of the version it was stored in, converts it, and coerces it again. Objects written since the
// definition last changed, [Kind.Since], need no processing: in the storage version their bytes are returned
// unchanged.
//
// # Performance
//
// Nearly all objects conform to their schema. Beside upstream's forms of its schema, a version therefore has a
// compiledStructure, which recognizes objects that need no coercion and sets defaults, and a
// compiledSchema, which detects valid values.
// Either may be unsure; then upstream's functions decide. The tests compare both.
//
// An unused Kind consists of its names and the definition's stored bytes, which the watch cache holds anyway.
// Schemas are decoded and their rules compiled when the first object is read or written; the CEL environment is
// built with the first rule in the process.
//
// # Concurrency
//
// A Kind and its rows may be used from any goroutine. A conversion webhook is called by the goroutine that needs
// the object.
package custom
