// Package admission runs between the decoding and defaulting of a write and the store: plugins complete the object,
// or reject it for reasons outside of the object itself.
//
// # Contract
//
//   - The server calls Chain.Admit once per attempt to write, after defaulting;
//     Chain.Complete when a new object has its name and UID; and Chain.Validate
//     after the object's own validation, when the object is final. Objects
//     are of the storage version and belong to the request: a mutator or completer may
//     change or replace only Request.Object.
//   - A plugin rejects with a *apierrors.StatusError, which is sent to the client
//     unchanged. The first rejection ends the chain.
//   - A plugin that allocates from a pool (an address, a port) registers its
//     release with Request.OnDone; the server calls Request.Done
//     once, after the write has succeeded or failed.
//   - With DryRun a plugin behaves the same, except that no effect outlives
//     the request.
//
// # Concurrency
//
// Plugins are called from many goroutines; a Request belongs to one.
package admission
