// Package namespace empties namespaces that are being deleted and then lets
// them go.
//
// A namespace that was deleted stays, in phase Terminating, as long as its spec
// names the finalizer kubernetes. A pass deletes what is in it: the pods first,
// because they may need the rest until they have ended, then everything else
// that discovery finds, custom resources included. When a look at the server
// (not at a cache) shows nothing left, the finalizer is removed through the
// finalize subresource. Until then the status tells what remains, in the
// conditions and words that kubectl users know.
//
// Nothing is polled while pods end: their deletion brings the next pass. What
// other parties' finalizers hold is looked at again after growing pauses, as
// there is no event of it to wait for.
//
// # Concurrency
//
// Passes over one namespace never overlap. A pass works on several resources
// at once.
package namespace
