package admission

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
)

// Companion is an object that is created or deleted in one transaction with the object of a request.
type Companion struct {
	Resource schema.GroupResource
	// Object is the object to create or, with Delete, the state of the object to delete. If another object has the
	// name by then, or the state has changed, the request is processed again.
	Object resource.Object
	Delete bool
}

// Along adds a companion to the request. Companions are ignored in a dry run, and by a delete that only marks its
// object as terminating.
func (r *Request) Along(c Companion) { r.companions = append(r.companions, c) }

// Companions returns the companions added by Along.
func (r *Request) Companions() []Companion { return r.companions }
