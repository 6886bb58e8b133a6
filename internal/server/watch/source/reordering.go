package source

import (
	"sync"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// A Reordering lets streams overtake one another, for the fault of that name. A stream that holds
// back later events than another one goes first, and the other one after it. The one that holds
// back the earliest event waits to be overtaken.
//
//	held back by A: 7 8    A asks first: it waits
//	held back by B: 8      B asks: A holds back the earlier 7, so B shows 8; then A may go up to 8
//
// Streams are known by their watchers. The zero Reordering is ready; all streams of a server share
// it.
type Reordering struct {
	mu sync.Mutex
	// first has the streams that wait to be overtaken, each with the first event that it holds
	// back.
	first map[*watchcache.Watcher]storage.Revision
	// passed is how far a stream may go that was overtaken.
	passed map[*watchcache.Watcher]storage.Revision
}

// overtake returns how far a stream may go that has shown the events up to a revision and may show
// those up to upTo in any case. rung are the streams to ring at the end of its turn.
func (k *Reordering) overtake(w *watchcache.Watcher, shown, upTo storage.Revision) (_ storage.Revision, rung []*watchcache.Watcher) {
	k.mu.Lock()
	defer k.mu.Unlock()
	upTo = max(upTo, k.passed[w])
	waits := w.After(max(shown, upTo))
	delete(k.first, w)
	if len(waits) == 0 {
		return upTo, nil
	}
	var behind, ahead []*watchcache.Watcher
	for other, rev := range k.first {
		switch {
		case rev < waits[0]:
			behind = append(behind, other)
		case rev > waits[0]:
			ahead = append(ahead, other)
		}
	}
	if k.first == nil {
		k.first, k.passed = map[*watchcache.Watcher]storage.Revision{}, map[*watchcache.Watcher]storage.Revision{}
	}
	if len(behind) == 0 {
		k.first[w] = waits[0]
		return upTo, ahead // they asked before this one was known
	}
	last := waits[len(waits)-1]
	for _, other := range behind {
		k.passed[other] = max(k.passed[other], last)
		delete(k.first, other)
	}
	return last, behind
}

// forget drops a stream that has ended or is not to be reordered.
func (k *Reordering) forget(w *watchcache.Watcher) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.first, w)
	delete(k.passed, w)
}
