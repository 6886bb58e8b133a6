// Package engine keeps the records of an embedded store on disk: Pebble as a durable log, written in
// revision order, read once when it is opened, and emptied by compaction. The formats, the bounds of
// the directory's size and the promises after a crash are described in package storage/local.
//
// # Concurrency
//
//  1. An Engine and its methods are safe for any goroutine, except that one goroutine at a time
//     calls Commit and Rotate, and one calls Clean.
//  2. A method that uses Pebble may hang when the disk fails; failed, given to Open, is called
//     before it hangs. Close then keeps the directory until the process ends.
//  3. Engine.use is held for reading by each call of Pebble, for writing to close it. No other lock
//     of a store is taken under it.
//  4. Garbage, Group and Image have no lock: they belong to their owner.
package engine
