// Package workqueue is the queue of keys between what noticed a change and the
// worker that acts on it.
//
// A key stands for "look at this object again", not for one change of it. So the
// queue keeps a key once however often it is added, and hands it to one worker at
// a time: a key added while a worker holds it comes back after that worker calls
// Done, once.
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
// A key that waits has a priority, 0 unless AddPriority named another. Of the keys
// that are ready, those of the highest priority come first. Among these the groups
// that Options.Group names take turns, a key each, so that a namespace with ten
// thousand keys delays the others by one key and not by ten thousand. Within a
// group, and in a queue without groups, keys come in the order in which they became
// ready. Nothing but the absence of higher ones lets a low priority through.
//
// # What a key costs
//
// All that is known of a key, whether it is ready, being worked on, waits or has failed,
// stands in one entry of one table: an Add hashes the key and finds the entry, and from
// then on the entry's number stands for the key. What has waited becomes ready, is taken
// and is done with by the loop over Work without another look-up; Done, Retry and Forget,
// which are given a key, look it up once. The other costs are the lock, which a turn of
// the loop takes once and which is held for tens of nanoseconds, and waking workers: one
// is called at a time, after the lock is let go, and one who comes and leaves more calls
// the next. So nothing that is ready waits longer than a worker takes to come, and a
// hundred keys do not wake a hundred workers that find the first has done them all.
//
// A queue of one shard is enough for that, and is what makes the order exact. A ready
// key takes about 95 bytes if it is two strings, one that waits 16 more; they are given
// back when keys leave, but for a thousand's.
//
// # Concurrency
//
//  1. Every method may be called from any goroutine.
//  2. Between a Get that returned k and the Done of k, no other Get returns k.
//  3. An Add that happens after a Get returned k leads to another Get of k.
//  4. Keys come out in the order told above.
//  5. The queue owns no goroutine. Delayed keys wait in order under one timer; who adds
//     others to it or finds nothing ready looks for itself whose time has come.
//  6. No method blocks but Get and Drain, nor any loop but one over Work, which calls Get.
package workqueue
