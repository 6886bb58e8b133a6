package clientsuite

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/informer"
)

// state is the state at a name from a revision on: an object, or no object. An object
// outside the selection counts as no object.
type state struct {
	rev uint64
	uid types.UID
	on  bool
}

// history is the truth about each name, as the writer knows it.
type history map[string][]state

func (h history) note(name string, s state) { h[name] = append(h[name], s) }

// story checks a handler's calls against the promise: for every object Add, Updates and
// Delete in this order, each starting from the state of the call before it, and each with a
// state that the server has really had, later than the one before.
type story[T client.Object] struct {
	mu    sync.Mutex
	now   map[string]T
	told  map[string][]step
	moved chan struct{} // one slot
	bad   []string
}

// step is one call.
type step struct {
	rev  uint64
	uid  types.UID
	gone bool
}

func newStory[T client.Object]() *story[T] {
	return &story[T]{now: map[string]T{}, told: map[string][]step{}, moved: make(chan struct{}, 1)}
}

func (s *story[T]) handler() informer.Handler[T] {
	return informer.Handler[T]{
		Add:    func(obj T, _ bool) { s.note("add", obj, obj, false) },
		Update: func(old, obj T) { s.note("update", old, obj, true) },
		Delete: func(last T) { s.note("delete", last, last, true) },
	}
}

func (s *story[T]) note(what string, old, obj T, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := obj.GetName()
	was, had := s.now[name]
	switch {
	case had != known:
		s.bad = append(s.bad, fmt.Sprintf("%s of %s, known before: %v", what, name, had))
	case had && was.GetUID() != obj.GetUID():
		s.bad = append(s.bad, fmt.Sprintf("%s of %s is another object's", what, name))
	case what == "update" && was.GetResourceVersion() != old.GetResourceVersion():
		s.bad = append(s.bad, fmt.Sprintf("update of %s from %s, was told %s", name, old.GetResourceVersion(), was.GetResourceVersion()))
	}
	s.told[name] = append(s.told[name], step{revision(obj), obj.GetUID(), what == "delete"})
	if what == "delete" {
		delete(s.now, name)
	} else {
		s.now[name] = obj
	}
	select {
	case s.moved <- struct{}{}:
	default:
	}
}

// check compares the calls with the server's history.
func (s *story[T]) check(t *testing.T, truth history) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.bad {
		t.Error(b)
	}
	for name, steps := range s.told {
		at := -1 // in the truth
		for _, x := range steps {
			next := truth[name]
			found := false
			for i := at + 1; i < len(next) && !found; i++ {
				if x.gone && !next[i].on || !x.gone && next[i].on && next[i].rev == x.rev && next[i].uid == x.uid {
					at, found = i, true
				}
			}
			if !found {
				t.Errorf("%s: told %+v, which has never been after step %d of\n%+v\nall: %+v", name, x, at, next, steps)
				break
			}
		}
	}
}

func revision(obj client.Object) uint64 {
	n, _ := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	return n
}
