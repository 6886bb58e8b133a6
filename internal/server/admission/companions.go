package admission

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
)

// Companion is an object that is created or deleted in one transaction with the object
// of a request: both happen or neither does.
type Companion struct {
	Resource schema.GroupResource
	// Object is what is created, or with Delete the state of what is deleted. If another
	// object has the name by then, or another state, the request is begun anew.
	Object resource.Object
	Delete bool
}

// Along adds a companion to the request. A delete that only marks its object, and a dry
// run, leave companions alone.
func (r *Request) Along(c Companion) { r.companions = append(r.companions, c) }

// Companions are what has been added by Along.
func (r *Request) Companions() []Companion { return r.companions }
