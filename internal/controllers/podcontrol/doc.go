// Package podcontrol holds what the controllers that own pods share: which
// pods count as active, ready and available; the index from an owner's UID to
// its pods; creation from a template with a controller reference; adoption and
// release by selector; the order in which surplus pods go; and work in batches
// that start small.
//
// Nothing here keeps state of its own. A controller asks for the pods it owns
// through the shared informer's index, claims them, decides, and writes; what
// it has written but not yet seen is the business of controller.Expectations.
//
// Objects handed out by informers are shared. No function here changes one,
// and pods built from a template share the template's memory until they are
// encoded: treat them as read-only.
//
// # Concurrency
//
//  1. Functions are pure unless they take a context, and may be called from
//     any goroutine.
//  2. A Control is immutable after New and safe for concurrent use.
//  3. Batches call their function from several goroutines at once, never more
//     than maxInFlight, and return only after every call has returned.
package podcontrol
