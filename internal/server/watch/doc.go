// Package watch serves open watches. A [Stream] turns the events of one watcher into frames;
// [Streams] is the set of those that are open.
//
// A stream takes its events from a source, see package source. It is decorated only where needed, so
// that a stream pays only for the decorators that it has:
//
//	watchcache.Watcher <- Cursor <- Fence <- Faults <- Trace <- frames <- Stream
//
// Over HTTP/2 the stream is handed over to its connection, and in memory to its reader, which ask it for
// frames when they have room; it then has no goroutine. Otherwise it runs on the goroutine of its handler.
package watch
