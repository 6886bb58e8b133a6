package rbac

import (
	"sync"
	"sync/atomic"

	"fairlead.dev/storage"
)

// Shared are the decoded objects of stores that began alike, up to a revision, and the Policy of that revision. Make it
// with NewShared. It is safe for concurrent use.
type Shared struct {
	upTo    storage.Revision
	objects sync.Map // key of the object -> pointer to it
	policy  atomic.Pointer[Policy]
}

// NewShared returns Shared for stores that are the same up to a revision.
func NewShared(upTo storage.Revision) *Shared { return &Shared{upTo: upTo} }

// policyOf returns the Policy of the objects, which it makes if no other source with the same objects has made it.
func policyOf(o Objects) *Policy {
	if o.shared == nil {
		return NewPolicy(o)
	}
	if p := o.shared.policy.Load(); p != nil {
		return p
	}
	o.shared.policy.CompareAndSwap(nil, NewPolicy(o))
	return o.shared.policy.Load()
}
