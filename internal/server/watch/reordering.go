package watch

import (
	"sync"

	"fairlead.dev/storage"
)

// reordering lets streams overtake one another, for the fault of that name. A stream that
// holds back later events than another one goes first, and the other one after it. The one
// that holds back the earliest event waits to be overtaken.
//
//	held back by A: 7 8    A asks first: it waits
//	held back by B: 8      B asks: A holds back the earlier 7, so B shows 8; then A may go up to 8
type reordering struct {
	mu sync.Mutex
	// first has the streams that wait to be overtaken, each with the first event that it holds
	// back.
	first map[*watchFaults]storage.Revision
	// passed is how far a stream may go that was overtaken.
	passed map[*watchFaults]storage.Revision
}

// overtake widens the opening of a stream if it may go first.
func (k *reordering) overtake(f *watchFaults, open *opening) {
	k.mu.Lock()
	defer k.mu.Unlock()
	open.upTo = max(open.upTo, k.passed[f])
	waits := f.from.After(max(f.reached, open.upTo))
	delete(k.first, f)
	if len(waits) == 0 {
		return
	}
	var behind, ahead []*watchFaults
	for other, rev := range k.first {
		switch {
		case rev < waits[0]:
			behind = append(behind, other)
		case rev > waits[0]:
			ahead = append(ahead, other)
		}
	}
	if k.first == nil {
		k.first, k.passed = map[*watchFaults]storage.Revision{}, map[*watchFaults]storage.Revision{}
	}
	if len(behind) == 0 {
		k.first[f] = waits[0]
		open.then = ringing(ahead) // they asked before this one was known
		return
	}
	last := waits[len(waits)-1]
	open.upTo = last
	for _, other := range behind {
		k.passed[other] = max(k.passed[other], last)
		delete(k.first, other)
	}
	open.then = ringing(behind)
}

func ringing(all []*watchFaults) func() {
	if len(all) == 0 {
		return nil
	}
	return func() {
		for _, f := range all {
			f.from.Ring()
		}
	}
}

// forget drops a stream that has ended or is not to be reordered.
func (k *reordering) forget(f *watchFaults) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.first, f)
	delete(k.passed, f)
}
