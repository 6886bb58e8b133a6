// Package read serves the verbs get, list and watch.
//
// Get and list of stored objects are answered from the watch cache: the options choose a
// revision, and the objects are represented as the client has negotiated. A list is a walk
// over one snapshot; a [Page] of it continues by a token that names the snapshot's revision
// and the last key. Watch opens a stream of package watch. [Computed] objects are made for the
// request.
package read
