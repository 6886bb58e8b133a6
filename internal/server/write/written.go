package write

import (
	"fairlead.dev/internal/resource"
	"fairlead.dev/storage"
)

// Written is an object with its value in the store, or the one that a dry run would store.
type Written struct {
	obj   resource.Object // nil if only the bytes are known
	key   string
	value []byte           // nil if the object has been removed
	exact bool             // decoding value is known to yield obj
	rev   storage.Revision // 0 for a dry run of a create
	// with is written in one transaction with the object.
	with companions
	// stored: this call has stored the object.
	stored bool
}

// revise sets the revision of the commit.
func (w *Written) revise(rev storage.Revision) {
	w.rev = rev
	if w.obj != nil {
		w.obj.SetResourceVersion(rev.String())
	}
}

// Object returns the object of the hub version, nil if only its bytes are known.
func (w *Written) Object() resource.Object { return w.obj }

// Revision returns the revision of the commit.
func (w *Written) Revision() storage.Revision { return w.rev }

// companions are writes in the same transaction as that of an object.
type companions struct {
	conditions []storage.Condition
	ops        []storage.Op
}
