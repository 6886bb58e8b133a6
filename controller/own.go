package controller

import (
	"context"
	"maps"
	"sync"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/trace"
)

// own is what the last reconcile of each key has written. The next one waits until the
// stores that the controller watches show it: otherwise it would decide from a state that
// it has changed itself, and its write would end in a conflict. Kubernetes 1.36 does the
// like (KEP-5647, StaleControllerConsistency).
type own struct {
	sources []source // appended before Run alone
	mu      struct {
		sync.Mutex
		of   map[Key][]revision
		most int // how large of may get before what has been seen is dropped
	}
}

// source is an informer that a controller watches.
type source struct {
	shows func(client.Written) bool
	wait  func(ctx context.Context, resourceVersion string) error
}

// revision is the newest that a reconcile wrote of what one source shows.
type revision struct {
	source int
	number int64
	text   string
}

// patience bounds the wait: a watch that lies still that long does not stop the controller,
// which then goes on with what it has.
const patience = 5 * time.Second

// seen waits until the stores show what the last reconcile of a key has written.
func (o *own) seen(ctx context.Context, k Key) {
	o.mu.Lock()
	last := o.mu.of[k]
	delete(o.mu.of, k)
	o.mu.Unlock()
	if len(last) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, r := range last {
		if o.sources[r.source].wait(ctx, r.text) != nil {
			return
		}
	}
}

// noting returns a context that notes what is written with it, and a function that keeps
// it for the key's next reconcile.
func (o *own) noting(ctx context.Context, k Key) (context.Context, func()) {
	var mu sync.Mutex // a reconcile may write from several goroutines
	var revisions []revision
	note := func(w client.Written) {
		text := w.Object.GetResourceVersion()
		number := trace.Revision(text)
		if number == 0 {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for i, s := range o.sources {
			if s.shows(w) {
				revisions = newest(revisions, revision{i, number, text})
			}
		}
	}
	return client.WithWriteObserver(ctx, note), func() {
		mu.Lock()
		defer mu.Unlock()
		if len(revisions) == 0 {
			return
		}
		o.keep(k, revisions)
	}
}

// few is how many keys of which nothing is known to be seen are not worth a look.
const few = 1024

func (o *own) keep(k Key, revisions []revision) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.of == nil {
		o.mu.of, o.mu.most = map[Key][]revision{}, few
	}
	o.mu.of[k] = revisions
	if len(o.mu.of) < o.mu.most {
		return
	}
	// Keys that never come again, as those of pods that are gone, must not add up.
	over, cancel := context.WithCancel(context.Background())
	cancel()
	maps.DeleteFunc(o.mu.of, func(_ Key, last []revision) bool {
		for _, r := range last {
			if o.sources[r.source].wait(over, r.text) != nil {
				return false
			}
		}
		return true
	})
	o.mu.most = max(few, 2*len(o.mu.of))
}

// newest adds a revision, or puts it in the place of an older one of its source.
func newest(all []revision, r revision) []revision {
	for i := range all {
		if all[i].source == r.source {
			if all[i].number < r.number {
				all[i] = r
			}
			return all
		}
	}
	return append(all, r)
}
