// Package informer keeps a typed local copy of a resource and calls handlers with its
// changes.
//
//	pods := informer.New(client.For[*corev1.Pod](c), informer.Options[*corev1.Pod]{})
//	pods.Index("node", func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
//	pods.Handle(informer.Handler[*corev1.Pod]{Add: ..., Update: ..., Delete: ...})
//	go pods.Run(ctx)
//	<-pods.Synced()
//	mine := pods.Store().ByIndex("node", "n1")
//
// # The store
//
// An informer follows one watch. It starts with a streamed list (sendInitialEvents) or, if
// the server does not support that, with a paged LIST and a watch from its revision. When
// the watch breaks, the informer resumes from the last revision seen. When the server no
// longer has that revision (410), it lists again, with pauses that grow while no watch
// succeeds, and applies the differences. A server that sends no data for client.ErrSilent's
// time, not even a bookmark, counts as a broken connection. The store never has half of a
// list: a list takes effect at once, when it is complete.
//
// Objects in the store, and those passed to handlers, are shared and read-only. Call
// DeepCopy before changing one; Options.OnMutation finds, in tests, code that does not.
// Without a Transform, objects of Go types also share equal parts (labels, tolerations,
// resources), and in protobuf a new version shares its unchanged parts with the version
// before it. That halves the memory of many pods: 100,000 of 4 KB of JSON take 400 MB, 970
// MB in client-go's informer (bench/results/client.md has the figures).
//
// # Handlers
//
// Changes go into a log, and a handler is a position in it: it reads on when its bell
// rings. A handler first gets an Add for each present object, marked initial. Then it gets,
// for every object, Add, any number of Updates, and Delete, in this order, each starting
// from the state of the call before it. Changes of different objects come in the order of
// their revisions.
//
// The log is bounded. If a handler is so slow that it falls behind the log's start, the
// informer records which objects it has missed, and their states at its last calls. When
// the handler comes back it gets the difference from those states to the present: one call
// for each such object, in no order between objects, without the steps in between. So the
// memory for a slow handler is bounded by the number of objects, however long it sleeps.
// Delete carries the last known state, which may be an older one after a list. An object
// that was deleted and created again under its name between two lists has another UID: the
// handler gets Delete and Add.
//
// # Several namespaces, several clusters
//
// An informer follows one namespace or all, of one server. A Group is several informers by
// name, each with its own store, that are run, handled and searched together. A controller
// may watch any number of informers and groups.
//
// # Concurrency
//
//  1. Run is one goroutine: it reads the wire, decodes, changes the store, and appends to
//     the log. Each registration has one more, which calls its handler. There are no
//     others.
//  2. One read-write lock guards store, indexes and log; writers hold it for one event, or
//     to put a list in place. No handler is ever called under it.
//  3. A handler's functions are called one at a time. They may use the store, which is at
//     least as new as their arguments.
//  4. A slow handler delays no other handler, except that Synced waits for the handlers
//     that were registered when the first list was complete.
package informer
