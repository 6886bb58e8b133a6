// Package watchcache holds the current state and the recent past of every resource in memory, and
// answers all reads and watches from there.
//
// A [Hub] follows the store with one cursor and passes each event to the [Cache] of its resource. A
// Cache's state has three parts, updated in one step: an ordered copy-on-write tree of the current
// objects, the history of the recent changes, and topics. The bytes of an [Object] are those of the
// store; they are not decoded on the way. A scanner finds the labels and fields that selectors need
// in these bytes, once, when a selector first needs them.
//
// An event goes down and comes up again; the packages are below internal/watchcache:
//
//	Hub.Run -> follow.Follower -> state.Apply -> tree, history.History, topic.Set    written
//	Cache.Get, Cache.Snapshot, Walk           <- tree, history (Exact)               read
//	Watcher.Next                              <- topic.Reader; before it a replay    watched
//	                                             of the history or of the store
//
// # Promises to readers
//
//  1. A read of Latest shows every write that was committed before the read began, by any writer.
//     It asks the store for its current revision; if the hub is behind, the reader advances the
//     hub itself and waits for no goroutine, only for a store that is fed over a network. NotOlder
//     shows at least its revision and waits up to 3 seconds for it, then fails with a
//     [*TooNewError]. Exact shows exactly its revision, or fails with storage.ErrCompacted. Any
//     shows the cache's current state without asking the store.
//     Request is Latest for the first read of a request; the others show at least the same revision, without asking the store.
//     After Trust the first one shows at least the revision that this process knows, and does not ask the store either.
//  2. A [Snapshot] is of one revision: it holds every change up to it, no change above it, and no part
//     of a transaction. It never changes. Any number of readers can list it slowly, for as long as
//     they like: it holds no lock, and costs only the memory of the objects that have been
//     replaced since.
//  3. Get is not a snapshot: with Any or NotOlder it may show a change a moment
//     before snapshots and watchers do.
//
// # Promises to watchers
//
//  1. A [Watcher] yields every event of its selection after its start, once, in revision order,
//     without a gap, and never splits a transaction between two calls of Next. Every snapshot
//     taken afterwards holds the changes that it has yielded.
//  2. The type of an event is relative to the selection: an object that begins to match is Added,
//     one that ceases to match is Deleted, with the last state that matched and the revision of
//     the change that ended it.
//  3. The start may lie anywhere in the kept history: the cache's own, and before that the
//     store's. So watchers continue across a restart. A start before the history fails with
//     storage.ErrCompacted; for a future start the watcher waits.
//  4. Progress, the revision that Next returns, means that the watcher has seen every event up to
//     it. It advances also while no event of the selection occurs.
//  5. A watcher is a position and a bell of one slot. A slow watcher has no cost and delays no other
//     watcher. When the first event that it has not read leaves the cache's history, by age or by
//     size, Next fails with storage.ErrCompacted.
//
// # The cost of the past
//
// All but the newest MiB of a cache's history is packed: a replaced object is kept as its
// difference to its successor, and restored for the reader that needs it. Other encodings of
// objects, see [Object.Encoding], are dropped after two sweeps without a reader. Two sweeps are a
// twentieth of the history apart.
//
// # The cost of a write
//
// Watchers with the same selection share a topic: a log of the events of that selection. A topic is
// found by one look-up of its base, the part of the selection that fixes one object, an indexed
// field's value, a label's value, a namespace, or no key at all. A change looks up its own values of
// those kinds that have watchers, and meets no other topic: a hundred thousand watchers of one
// node's pods each add no cost to a change of another node. The rest of a selection is evaluated
// once per distinct selection, not once per watcher.
//
// The naive design, in which each watcher scans one shared ring at its own pace, lost: a watcher of
// one node in a thousand would look at a thousand changes to find its own, or be woken for each.
// The logs of topics cost 40 bytes for an event and topic, and are cut together with the ring.
//
// # Hubs that begin alike
//
// A store may begin with the content of another one, as that of a fork does. Its hub then begins with the [Contents] of the
// other hub instead of reading the store. The trees are copied when they change, and the hubs share the objects with their
// encodings.
//
// # When the store fails
//
// If the cursor breaks, the hub opens another one at the same revision, and readers and watchers go
// on. If the history in between is compacted by then, every cache is loaded again and all watchers
// fail with storage.ErrCompacted, because the events in between are lost. While the store cannot be
// followed, Any reads and watches continue with the cached state, and Latest fails with
// storage.ErrUnavailable. A closed store ends everything with storage.ErrClosed.
//
// # Values that cannot be read
//
// A value that is not a JSON object, or of another kind than the cache's, is nevertheless an
// object: it is counted, and every Get, list and watch whose range holds it fails with an
// [*UnreadableError] until it can be read or is deleted. The range of a selection is its object,
// its namespace or the resource; labels and fields do not narrow it, since those of such a value
// are unknown. Watchers of the range end with that error and can watch again afterwards from the
// same revision: they see one change from the last readable state to the next one, or a deletion
// if it was deleted. A selection with [Selection.Readable] continues as if the object did not exist.
//
// A value that [HubOptions.Open] cannot decrypt is one of these, too, but may become readable without
// a write. So each read that meets it tries again, without a lock. If that succeeds, the cache is
// loaded again, and watchers of the resource get storage.ErrCompacted.
//
// # Concurrency
//
//  1. Methods of Hub, Cache, Snapshot and Object may be called from any
//     goroutine. A Watcher belongs to one goroutine at a time.
//  2. There is one goroutine, [Hub.Run]. It applies the events that no reader has applied, drops
//     changes that are too old, packs the past, and rings all bells. Without it reads are right,
//     but no bell rings and no change expires by age. A watcher that starts before the cache's
//     history has one more goroutine, until it has caught up: it relays the store's bell.
//  3. The goroutine that holds the follower's lock applies changes: the feeder, or a reader that
//     does not wait for it. They become visible to watchers and snapshots together, when a whole
//     batch of the store has been applied, and bells ring after that.
//  4. Bells are rung without any lock that readers or writers take, and once per topic for any
//     number of events.
//  5. Locks are taken in this order: the follower's, state.mu, a topic's bells. The lock of the
//     encodings is taken alone. The store is not called with state.mu held; loading and following
//     it happens under the follower's lock.
//  6. Everything that is returned is shared and immutable: objects, their bytes, slices of events.
package watchcache
