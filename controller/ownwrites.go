package controller

import (
	"context"
	"maps"
	"sync"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/trace"
)

// ownWrites records the writes of each key's last reconcile. The next reconcile waits until the watched stores have them:
// otherwise it would decide on a state older than its own writes, and its write would end in a conflict. Kubernetes
// 1.36 does the same (KEP-5647, StaleControllerConsistency).
type ownWrites struct {
	sources []source // appended only before Run
	mu      struct {
		sync.Mutex
		of   map[Key][]revision
		most int // the size of of at which entries already seen are dropped
	}
}

// source is an informer that a controller watches.
type source struct {
	shows func(client.Written) bool
	wait  func(ctx context.Context, resourceVersion string) error
}

// revision is the newest revision that a reconcile wrote to the resource of one source.
type revision struct {
	source int
	number int64
	text   string
}

// patience limits the wait: if a watch stalls for longer, the controller goes on with the state it has.
const patience = 5 * time.Second

// seen waits until the stores have the writes of a key's last reconcile.
func (o *ownWrites) seen(ctx context.Context, k Key) {
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

// noting returns a context that records the writes made with it, and a function that keeps the record for the key's
// next reconcile.
func (o *ownWrites) noting(ctx context.Context, k Key) (context.Context, func()) {
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

// few is the number of keys below which the record is not searched for stale entries.
const few = 1024

func (o *ownWrites) keep(k Key, revisions []revision) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.of == nil {
		o.mu.of, o.mu.most = map[Key][]revision{}, few
	}
	o.mu.of[k] = revisions
	if len(o.mu.of) < o.mu.most {
		return
	}
	// Entries of keys that never return, such as those of deleted pods, must not accumulate.
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

// newest adds a revision, or replaces an older one of its source.
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
