// Package workqueue is the queue of keys between the handler that sees a change and the
// worker that acts on it.
//
// A key means "reconcile this object", not one change of it. So the queue keeps a key once
// however often it is added, and hands it to one worker at a time: a key added while a
// worker holds it comes back once, after that worker calls Done.
//
//	q := workqueue.New(workqueue.Options[string]{})
//	q.Add("default/web")
//	for k := range q.Work(ctx) {
//		if err := work(k); err != nil {
//			q.Retry(k) // again after a delay that doubles with each failure
//		} else {
//			q.Forget(k)
//		}
//	}
//
// # Order
//
// A key has a priority, 0 unless AddPriority sets another. Of the ready keys, those of the
// highest priority come first. Among these the groups of Options.Group take turns, one key
// each, so that a namespace with ten thousand keys delays the others by one key and not by
// ten thousand. Within a group, and in a queue without groups, keys come in the order in
// which they became ready. A low priority is served only while there are no higher ones.
//
// # The cost of a key
//
// The whole state of a key, whether it is ready, being worked on, delayed or has failed, is
// in one entry of one table. An Add hashes the key and finds the entry, and from then on
// the entry's number stands for the key. The loop over Work makes delayed keys ready, takes
// and finishes them without another look-up; Done, Retry and Forget, which take a key, look
// it up once. The other costs are the lock, which each iteration of the loop takes once for
// tens of nanoseconds, and waking workers. One worker is woken at a time, after the lock is
// released, and a worker that leaves more ready keys wakes the next. So a ready key waits
// no longer than a worker takes to wake up, and a hundred keys do not wake a hundred
// workers of which the first has done all the work. One shard is enough for that, and makes
// the order exact. A ready key takes about 95 bytes if it is two strings, a delayed one 16
// more; the memory is returned when keys leave, except for a thousand keys' worth.
//
// # Concurrency
//
//  1. Every method may be called from any goroutine.
//  2. Between a Get that returned k and the Done of k, no other Get returns k.
//  3. An Add that happens after a Get returned k leads to another Get of k, unless the worker calls Begin after it.
//  4. Keys come out in the order described above.
//  5. The queue owns no goroutine. Delayed keys wait in order under one timer; a goroutine
//     that delays a key or finds no key ready also moves due keys itself.
//  6. No method blocks but Get and Drain, nor any loop but one over Work, which calls Get.
package workqueue
