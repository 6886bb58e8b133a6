package daemonset

import (
	"sync"
	"time"

	"fairlead.dev/controller"
)

// A pod that keeps failing on a node is replaced with exponential backoff.
const (
	firstPause = time.Second
	maxPause   = 15 * time.Minute
)

// failures remembers, per set and node, when a failed pod was last replaced and how
// long to wait before the next one is. The zero value is ready.
type failures struct {
	mu struct {
		sync.Mutex
		sets map[controller.Key]*pauses
	}
}

// pauses are the pauses of one generation of a set: a new generation starts over, because it may contain a fix.
type pauses struct {
	generation int64
	nodes      map[string]pause
}

type pause struct {
	since time.Time
	last  time.Duration
}

// wait returns how long a failed pod has to stay; zero means that it is to be replaced now, and increases the next
// pause. The backoff is reset after twice the maximum pause without failures, and on all nodes by a new generation
// of the set.
func (f *failures) wait(k controller.Key, generation int64, node string, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.sets == nil {
		f.mu.sets = make(map[controller.Key]*pauses)
	}
	set := f.mu.sets[k]
	if set == nil || set.generation != generation {
		set = &pauses{generation: generation, nodes: make(map[string]pause)}
		f.mu.sets[k] = set
	}
	x, ok := set.nodes[node]
	passed := now.Sub(x.since)
	switch {
	case ok && passed < x.last:
		return x.last - passed
	case !ok || passed > 2*maxPause:
		x.last = firstPause
	default:
		x.last = min(2*x.last, maxPause)
	}
	x.since = now
	set.nodes[node] = x
	return 0
}

func (f *failures) forget(k controller.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.mu.sets, k)
}
