package fairness

import (
	"net/url"
	"sync"

	"k8s.io/apimachinery/pkg/fields"

	"fairlead.dev/internal/server/request"
)

// watches counts the open watches by what they watch.
type watches struct {
	mu    sync.Mutex
	count map[watched]int
}

// watched is the selection of watches: all objects of a resource, those of a namespace, or one.
type watched struct{ group, resource, namespace, name string }

// Watch counts a watch until forget is called. A watch of the pods of one node is not counted, since a write concerns only
// few of those.
func (d *Dispatcher) Watch(in *request.Info, query url.Values) (forget func()) {
	if in.Resource == "pods" && ofOneNode(query) {
		return func() {}
	}
	w := &d.watches
	key := watched{in.Group, in.Resource, in.Namespace, in.Name}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count[key]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.count[key]--; w.count[key] == 0 {
			delete(w.count, key)
		}
	}
}

func ofOneNode(query url.Values) bool {
	sel, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		return false
	}
	node, ok := sel.RequiresExactMatch("spec.nodeName")
	return ok && node != ""
}

// interested returns how many watches may see the event of a write.
func (w *watches) interested(in *request.Info) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.count) == 0 {
		return 0
	}
	key := watched{group: in.Group, resource: in.Resource}
	n := w.count[key]
	if in.Namespace != "" {
		key.namespace = in.Namespace
		n += w.count[key]
	}
	if in.Name != "" {
		key.name = in.Name
		n += w.count[key]
	}
	return n
}
