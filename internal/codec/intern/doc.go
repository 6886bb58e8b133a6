// Package intern deduplicates recently decoded parts of objects, keyed by their encoded bytes, so that a decoder
// makes them once.
//
// [Texts] interns strings: a pod's labels, images and conditions are mostly those of the previous pod. [Values]
// interns the targets of pointers, slices and maps in struct fields, for objects that are never modified: equal
// bytes are decoded once, and all objects with these bytes point to the result.
// [Objects] finds whole objects that several readers of a process decode from the same bytes.
//
// Most fields of most objects have repeating values (tolerations, resources, owner references), and a few have not
// (the list of volumes, one of which is named after the pod). Looking up the latter costs more than it gives, so a
// field whose values rarely repeat is skipped for a while and then tried again.
//
// A value is kept at its second occurrence: the first object has it to itself, and values that occur once, which
// are much of every object, are not kept at all. Texts that occur once are stored contiguously, for objects that
// are made together.
//
// Everything that Texts and Values keep is bounded: texts by number and length; values by number, which grows with the number of objects,
// and by the length of their bytes.
//
// # Concurrency
//
// [Objects] is safe for concurrent use, the other types are not. Arguments are not retained.
package intern
