package admission

import (
	"context"
	"sync"
)

// turns is a lock per name. A name that nobody holds or waits for costs nothing.
type turns struct {
	mu struct {
		sync.Mutex
		names map[string]*turn
	}
}

type turn struct {
	token chan struct{} // full while somebody holds the name
	users int           // who hold it or wait; guarded by turns.mu
}

func newTurns() *turns {
	t := &turns{}
	t.mu.names = map[string]*turn{}
	return t
}

// take waits until the name is free. The caller gives it back with done.
func (t *turns) take(ctx context.Context, name string) (done func(), err error) {
	t.mu.Lock()
	x := t.mu.names[name]
	if x == nil {
		x = &turn{token: make(chan struct{}, 1)}
		t.mu.names[name] = x
	}
	x.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if x.users--; x.users == 0 {
			delete(t.mu.names, name)
		}
	}
	select {
	case x.token <- struct{}{}:
		return func() { <-x.token; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
