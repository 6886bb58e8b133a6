// Package admission is what stands between a decoded, defaulted write and the
// store: plugins that complete an object or refuse it for reasons that lie outside
// of it.
//
// # The contract
//
//   - The server calls Chain.Admit once per attempt to write, after defaulting;
//     Chain.Complete, when a new object has its name and UID; and Chain.Validate,
//     after the object's own validation, when it is as it will be written. Objects
//     are of the storage version and belong to the request: a mutator or completer may
//     change Request.Object, or put another in its place, and nothing else.
//   - A plugin refuses with a *apierrors.StatusError, which reaches the client
//     as it is. The first refusal ends the chain.
//   - A plugin that takes something from a pool (an address, a port) registers
//     with Request.OnDone how to give it back; the server calls Request.Done
//     once, after the write has been done or has failed.
//   - With DryRun a plugin does all it does otherwise, except that nothing
//     outlives the request.
//
// # Concurrency
//
// Plugins are called from many goroutines; a Request belongs to one.
package admission
