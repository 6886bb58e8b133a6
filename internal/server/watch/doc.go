// Package watch serves open watches. A [Stream] turns the events of one watcher into frames;
// [Streams] is the set of those that are open.
//
// A stream takes its events from a source. The cursor over the watch cache is one, and the
// others wrap it where they are needed: a fence for custom resources, injected faults, and the
// trace. A stream pays only for those that it needs.
//
//	watchcache.Watcher <- cursor <- fence <- watchFaults <- watchTrace <- Stream.next -> frames
//
// Over HTTP/2 the stream is handed over to its connection, which asks it for frames when it
// has room; it then has no goroutine. Otherwise it runs on the goroutine of its handler.
package watch
