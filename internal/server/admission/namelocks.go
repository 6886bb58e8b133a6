package admission

import (
	"context"
	"sync"
)

// nameLocks is a lock per name. An unused name takes no memory.
type nameLocks struct {
	mu struct {
		sync.Mutex
		names map[string]*nameLock
	}
}

type nameLock struct {
	token chan struct{} // full while the name is held
	users int           // the number of holders and waiters; guarded by nameLocks.mu
}

func newTurns() *nameLocks {
	t := &nameLocks{}
	t.mu.names = map[string]*nameLock{}
	return t
}

// take acquires the lock of the name. The caller releases it with done.
func (t *nameLocks) take(ctx context.Context, name string) (done func(), err error) {
	t.mu.Lock()
	x := t.mu.names[name]
	if x == nil {
		x = &nameLock{token: make(chan struct{}, 1)}
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
