package schedulerplugins

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// byPod has a value for each of some pods, by their UIDs. It may be used from any goroutine.
type byPod[T any] struct {
	mu struct {
		sync.RWMutex
		values map[types.UID]T
	}
}

func newByPod[T any]() *byPod[T] {
	b := &byPod[T]{}
	b.mu.values = map[types.UID]T{}
	return b
}

func (b *byPod[T]) set(uid types.UID, v T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.values[uid] = v
}

// get returns the value of a pod, the zero one if it has none.
func (b *byPod[T]) get(uid types.UID) T {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.mu.values[uid]
}

func (b *byPod[T]) remove(uid types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.mu.values, uid)
}

func (b *byPod[T]) all() []T {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return slices.Collect(maps.Values(b.mu.values))
}
