// Package watchcache holds the present state and the recent past of every
// resource in memory, and answers all reads and watches from there.
//
// A [Hub] follows the store with one cursor and hands each event to the [Cache]
// of its resource. A Cache is three things, fed in one step: an ordered
// copy-on-write tree of the present objects, a ring of the recent changes, and
// topics. The bytes of an [Object] are those of the store; nothing is decoded
// on the way. What selectors ask of an object is found in its bytes by a
// scanner, once, when somebody first asks.
//
// # What a reader sees
//
//  1. A read of Latest shows everything that was committed before it began,
//     whoever wrote it: it asks the store how far it is, and if the hub is behind
//     that, the reader advances it itself and waits for no goroutine, only for a
//     store that is fed over a network. NotOlder shows at least its revision and waits up to 3
//     seconds for one that has not come, then fails with a [*TooNewError].
//     Exact shows exactly its revision, or fails with storage.ErrCompacted. Any
//     shows the cache's present without looking at the store.
//  2. A [Snapshot] is of one revision: it holds every change up to it, none
//     above it, and no transaction in part. It never changes. It can be listed
//     slowly, by many, for as long as they like: it holds no lock, and costs
//     the memory of what has been replaced since.
//  3. Get is not a snapshot: with Any or NotOlder it may show a change a moment
//     before snapshots and watchers do.
//
// # What a watcher sees
//
//  1. A [Watcher] yields every event of its selection after its start, once, in
//     revision order, with no gap, and never splits a transaction between two
//     calls of Next. What it has seen is in every snapshot taken from then on.
//  2. The type of an event is the selection's: an object that comes to match is
//     Added, one that ceases to is Deleted, with the last state that matched
//     and the revision of the change that ended it.
//  3. The start may lie anywhere in the kept history: the cache's own, and
//     behind it the store's. So watchers go on across a restart. A start
//     before that fails with storage.ErrCompacted; one that has not come yet
//     is waited for.
//  4. Progress, the revision Next returns, says that everything up to it has
//     been seen. It moves also when nothing of the selection happens.
//  5. A watcher is a position and a bell of one slot. A slow one costs nothing
//     and holds nobody up. When the first event it has not read leaves the
//     cache's history, by age or by size, Next fails with storage.ErrCompacted.
//
// # What the past costs
//
// All but the newest MiB of a cache's history is packed: an object that was
// replaced is kept as its difference to the one after it, and made whole again for
// who asks. Other encodings of objects, see [Object.Form], are dropped when nobody
// has asked for them during two sweeps, which are a twentieth of the history apart.
//
// # What a write costs
//
// Watchers with the same selection share a topic: a log of the events of that
// selection. A topic is found by one look-up of what its selection fixes: one
// object, an indexed field's value, a label's value, a namespace, or nothing. A
// change looks up its own values of those kinds that anybody watches, and meets
// no other topic: a hundred thousand watchers of a node's pods each cost a
// change of another node nothing. What remains of a selection is evaluated
// once per distinct selection, not once per watcher.
//
// The naive design, a scan of one shared ring by each watcher at its own pace,
// lost: a watcher of one node in a thousand would look at a thousand changes to
// find its own, or be woken for each. Logs of their own for topics cost 40
// bytes an event and topic, and are cut together with the ring.
//
// # When the store fails
//
// If the cursor breaks, the hub opens another one where it stood, and nobody
// notices. If the history between is compacted by then, every cache is loaded
// again and all watchers fail with storage.ErrCompacted: what happened in
// between cannot be told. While the store cannot be followed, Any reads and
// watches go on with what is there, and Latest fails with
// storage.ErrUnavailable. A closed store ends everything with
// storage.ErrClosed.
//
// # Values that cannot be read
//
// A value that is no JSON object, or of another kind than the cache's, is an object
// nevertheless: it is counted, and every Get, list and watch whose range holds it fails
// with an [*UnreadableError] until it can be read or is deleted. The range of a selection
// is its object, its namespace or the resource; labels and fields do not narrow it, for
// nobody knows those of such a value. Watchers of the range end with that error and can
// watch again when it is over, from where they were: they see one change from the last
// state that could be read to the next one, or a deletion if there is none. A selection
// with [Selection.Readable] goes on as if there were no such object.
//
// # Concurrency
//
//  1. Methods of Hub, Cache, Snapshot and Object may be called from any
//     goroutine. A Watcher belongs to one goroutine at a time.
//  2. There is one goroutine, [Hub.Run]. It takes in what no reader has taken
//     in, drops what is too old, packs the past, and rings all bells. Without it reads are
//     right, but no bell rings and nothing expires by age. A watcher that starts
//     before the cache's history has one more, until it has caught up: it passes
//     on the store's bell.
//  3. Changes are applied by whoever holds Hub.mu: the feeder, or a reader that
//     will not wait for it. They become visible to watchers and snapshots
//     together, when a whole batch of the store has been applied, and bells
//     ring after that.
//  4. Bells are rung without any lock that readers or writers take, and once
//     per topic however many events there were.
//  5. Locks are taken in this order: Hub.mu, Cache.mu, topic.bells. The lock of
//     the forms is taken alone. Nothing calls the store with Cache.mu held;
//     loading and following it happens under Hub.mu.
//  6. What comes out is shared and immutable: objects, their bytes, slices of
//     events.
package watchcache
