package node

import (
	"slices"
	"sync"
)

// roster holds the kubelets of a process. It is safe for concurrent use.
type roster struct {
	mu     sync.RWMutex
	byName map[string]*kubelet
	list   []*kubelet // replaced when it changes
	slots  map[int]bool
}

// all returns the kubelets, in the order in which they were added. The slice must not be changed.
func (r *roster) all() []*kubelet {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.list
}

// named returns the kubelet of a name, or nil.
func (r *roster) named(name string) *kubelet {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byName[name]
}

func (r *roster) add(k *kubelet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName == nil {
		r.byName = map[string]*kubelet{}
	}
	r.byName[k.name] = k
	r.list = append(slices.Clip(r.list), k)
}

// remove removes a kubelet and frees its slots.
func (r *roster) remove(k *kubelet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName[k.name] != k {
		return
	}
	delete(r.byName, k.name)
	r.list = slices.DeleteFunc(slices.Clone(r.list), func(other *kubelet) bool { return other == k })
	for i := range k.slots {
		delete(r.slots, k.index+i)
	}
}

// reserve takes n adjoining slots, the parts of the range of pod addresses of which a node gets one or more: those from
// the wanted one on if they are free, else the first that are free from a minimum on. The first of them is divisible by n.
func (r *roster) reserve(wanted, least, n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	free := func(first int) bool {
		for i := range n {
			if r.slots[first+i] {
				return false
			}
		}
		return first%n == 0
	}
	first := wanted
	if wanted < 0 || !free(wanted) {
		for first = (least + n - 1) / n * n; !free(first); first += n {
		}
	}
	if r.slots == nil {
		r.slots = map[int]bool{}
	}
	for i := range n {
		r.slots[first+i] = true
	}
	return first
}
