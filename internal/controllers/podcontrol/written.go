package podcontrol

import (
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// Written remembers a controller's writes for a key until its cache has them. A pass over a cache behind the
// controller's own writes would repeat them; objects with generated names would then exist twice. The zero value is
// ready for use. It is safe for concurrent use.
type Written struct {
	mu struct {
		sync.Mutex
		keys map[controller.Key]map[types.UID]write
	}
}

type write struct {
	revision uint64 // zero for a deletion
	at       time.Time
}

// forgetAfter bounds the wait for a write that the cache will never have.
const forgetAfter = time.Minute

// Wrote records that the object was created or updated as given.
func (w *Written) Wrote(k controller.Key, o client.Object) {
	w.note(k, o.GetUID(), write{revision: revisionOf(o), at: time.Now()})
}

// Deleted records that the object was deleted.
func (w *Written) Deleted(k controller.Key, o client.Object) {
	w.note(k, o.GetUID(), write{at: time.Now()})
}

func (w *Written) note(k controller.Key, uid types.UID, x write) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.keys == nil {
		w.mu.keys = make(map[controller.Key]map[types.UID]write)
	}
	if w.mu.keys[k] == nil {
		w.mu.keys[k] = make(map[types.UID]write)
	}
	w.mu.keys[k][uid] = x
}

// Gone records that the cache has seen the object's deletion.
func (w *Written) Gone(k controller.Key, uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.mu.keys[k], uid)
}

// Forget drops the key.
func (w *Written) Forget(k controller.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.mu.keys, k)
}

// Behind reports whether the cached objects of the key are behind the recorded writes.
func Behind[T client.Object](w *Written, k controller.Key, cached []T) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	pending := w.mu.keys[k]
	if len(pending) == 0 {
		return false
	}
	has := make(map[types.UID]uint64, len(cached))
	for _, o := range cached {
		has[o.GetUID()] = max(1, revisionOf(o))
	}
	for uid, x := range pending {
		at, there := has[uid]
		shown := there && x.revision != 0 && at >= x.revision || !there && x.revision == 0
		if shown || time.Since(x.at) > forgetAfter {
			delete(pending, uid)
		}
	}
	if len(pending) == 0 {
		delete(w.mu.keys, k)
		return false
	}
	return true
}

// revisionOf returns the resourceVersion as a number, or 0 if it is not one, in which case the cache counts as up to date.
func revisionOf(o client.Object) uint64 {
	n, _ := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	return n
}
