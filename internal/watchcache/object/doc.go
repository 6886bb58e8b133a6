// Package object holds the objects of the watch cache: each is one stored key as of one revision.
//
// An [Object] is made of the bytes that the store holds, and does not decode them: a scanner finds
// its labels and fields when a selector first needs them, and the resource version is spliced into
// the bytes as they are read. A replaced object can be packed into its difference to its successor.
// Other encodings are built once for all readers, and [Encodings] bounds their memory.
//
// Objects are immutable for their readers and may be read by any goroutine; SetPacked replaces only
// the form in which a value is held. The methods of Object are the API of package watchcache; the
// functions are for the packages that keep objects.
package object
