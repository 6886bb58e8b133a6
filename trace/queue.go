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
	// Depth is the number of keys that wait for a worker, Working that of the keys that workers have, or 1 while the
	// controller starts, and Delayed that of the keys that wait for their time.
	Depth   int `json:"depth"`
	Working int `json:"working"`
	Delayed int `json:"delayed"`
	// Next is the time until the first delayed key is ready, and Volatile reports that only this queue knows such times: a
	// restart of the controller would begin them anew.
	Next     time.Duration `json:"next"`
	Volatile bool          `json:"volatile,omitempty"`
	// Adds is how often a key was added, and Retries how often after a failure.
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

// ForgetQueues removes all registered queues, whose controllers have ended.
func (l *Log) ForgetQueues() {
	if l == nil {
		return
	}
	l.queues.Lock()
	defer l.queues.Unlock()
	l.queues.state = nil
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
