// Package namespace empties namespaces that are being deleted, and then finalizes them.
//
// A deleted namespace stays, in phase Terminating, while its spec has the finalizer kubernetes. A pass deletes its
// contents: the pods first, because they may need the rest until they have terminated, then everything else that
// discovery finds, including custom resources. When the server (not a cache) shows an empty namespace, the
// finalizer is removed through the finalize subresource. Until then the status reports the remaining objects, in
// kube-controller-manager's conditions and words.
//
// The controller does not poll while pods terminate: their deletion causes the next pass. Objects with other
// finalizers are checked again with backoff, because there is no event to wait for.
//
// # Concurrency
//
// Passes over one namespace never overlap. A pass works on several resources at once.
package namespace
