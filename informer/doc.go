// Package informer keeps a typed local copy of a resource and tells handlers what
// changes in it.
//
//	pods := informer.New(client.For[*corev1.Pod](c), informer.Options[*corev1.Pod]{})
//	pods.Index("node", func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
//	pods.Handle(informer.Handler[*corev1.Pod]{Add: ..., Update: ..., Delete: ...})
//	go pods.Run(ctx)
//	<-pods.Synced()
//	mine := pods.Store().ByIndex("node", "n1")
//
// # The copy
//
// An informer follows one watch. It begins with a streamed list (sendInitialEvents) or,
// where the server cannot do that, with a paged LIST and a watch from its revision.
// When the watch breaks it goes on from the last revision seen; when the server has
// forgotten that revision (410) it lists again, with pauses that grow while no watch
// follows, and applies the differences. A server that says nothing for client.ErrSilent's
// time, not even a bookmark, is taken for broken. The copy is
// never half of a list: a list takes effect at once, when it is complete.
//
// Objects in the store, and those given to handlers, are shared by everybody and
// read-only. DeepCopy before changing one; Options.OnMutation finds, in tests, who did not.
// Without a Transform, objects of Go types also share what is equal in them (labels,
// tolerations, resources), and in protobuf a new version shares with the one before it
// what has not changed. That halves the memory of many pods: 100,000 of 4 KB of JSON
// take 400 MB, 970 MB in client-go's informer (docs/client.md has the figures).
//
// # What a handler is told
//
// The changes go into a log, and a handler is a position in it: it reads on when its
// bell rings. A handler starts with an Add for each object present, marked initial.
// For every object it is then told Add, any number of Updates, and Delete, in this
// order, each starting from the state that the one before it told. Changes of different
// objects come in the order of their revisions.
//
// The log is bounded. For a handler that is so slow that it falls off the log's end,
// the informer notes which objects it has not been told about, and what it was told
// last; when it comes back it is told the difference to the present: one call for each
// such object, in no order between objects, the steps in between left out. What such a
// handler costs is bounded by the number of objects, however long it sleeps. Delete
// carries the last state that is known, which may be an older one after a list.
//
// An object that was deleted and made again under its name while nobody looked has
// another UID: it is told as Delete and Add.
//
// # Several namespaces, several clusters
//
// An informer follows one namespace or all, of one server. For several there is a Group:
// several informers by name, each with a store, that run, are handled and searched
// together. A controller may watch any number of informers and groups.
//
// # Concurrency
//
//  1. Run is one goroutine: it reads the wire, decodes, changes the store, appends to
//     the log. Each registration has one more, which calls its handler. There are no
//     others.
//  2. One read-write lock guards store, indexes and log; writers hold it for one event,
//     or to put a list in place. No handler is ever called under it.
//  3. A handler's functions are called one at a time. They may use the store, which is
//     at least as new as what they are told.
//  4. A slow handler delays nobody else, except that Synced waits for the handlers that
//     were registered when the first list was complete.
package informer
