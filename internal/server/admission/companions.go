package admission

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/storage"
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

// Reservation is a key of the store that is put or deleted in one transaction with the object of a request.
type Reservation struct {
	Key string
	// Owner is the value to put; empty to delete the key.
	Owner string
	// At is when the key to put was last written, 0 if it does not exist. If it has been written since, the request is processed
	// again.
	At storage.Revision
}

// Reserve adds a reservation to the request, which is ignored when companions are.
func (r *Request) Reserve(s Reservation) { r.reservations = append(r.reservations, s) }

// Reservations returns those added by Reserve.
func (r *Request) Reservations() []Reservation { return r.reservations }
