package trace

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Queue is the state of one controller's queue.
type Queue struct {
	// Name is the controller's.
	Name string `json:"name"`
	// Depth is the number of keys that wait for a worker, Adds how often a key was added, and
	// Retries how often after a failure.
	Depth   int    `json:"depth"`
	Adds    uint64 `json:"adds"`
	Retries uint64 `json:"retries"`
	// Unfinished is the sum of the durations of the running reconciles, Longest the longest of
	// them.
	Unfinished time.Duration `json:"unfinished"`
	Longest    time.Duration `json:"longest"`
}

// queues are the registered queues.
type queues struct {
	sync.Mutex
	state map[string]func() Queue
}

// RegisterQueue sets the function that returns the present state of a controller's queue. A
// later function for the same name replaces it.
func (l *Log) RegisterQueue(name string, state func() Queue) {
	if l == nil {
		return
	}
	l.queues.Lock()
	defer l.queues.Unlock()
	if l.queues.state == nil {
		l.queues.state = map[string]func() Queue{}
	}
	l.queues.state[name] = state
}

// Queues are the controllers' queues as they are now, by name.
func (l *Log) Queues() []Queue {
	if l == nil {
		return nil
	}
	l.queues.Lock()
	ask := maps.Clone(l.queues.state)
	l.queues.Unlock()
	all := make([]Queue, 0, len(ask))
	for name, state := range ask {
		q := state()
		q.Name = name
		all = append(all, q)
	}
	slices.SortFunc(all, func(a, b Queue) int { return strings.Compare(a.Name, b.Name) })
	return all
}
