package job

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/controller"
)

// released remembers the pods whose finalizer has been removed until the cache has the removal: until then they
// would be counted again.
type released struct {
	mu struct {
		sync.Mutex
		pods map[controller.Key]map[types.UID]struct{}
	}
}

func (r *released) expect(k controller.Key, uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.pods == nil {
		r.mu.pods = make(map[controller.Key]map[types.UID]struct{})
	}
	if r.mu.pods[k] == nil {
		r.mu.pods[k] = make(map[types.UID]struct{})
	}
	r.mu.pods[k][uid] = struct{}{}
}

func (r *released) observed(k controller.Key, uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.mu.pods[k], uid)
	if len(r.mu.pods[k]) == 0 {
		delete(r.mu.pods, k)
	}
}

// of returns a copy of the UIDs for the key.
func (r *released) of(k controller.Key) map[types.UID]struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.mu.pods[k])
}

func (r *released) forget(k controller.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.mu.pods, k)
}
