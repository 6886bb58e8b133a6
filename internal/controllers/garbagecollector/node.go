package garbagecollector

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// node is an object in the graph. Its fields are guarded by the graph's mutex.
type node struct {
	id         identity
	owners     []metav1.OwnerReference
	dependents map[*node]struct{} // nil until the first: most objects own no others

	virtual            bool // claimed by a dependent, not seen by an informer
	beingDeleted       bool
	deletingDependents bool // being deleted in the foreground
}

// life is the part of an object's state that matters for collection.
type life struct {
	beingDeleted, foreground, orphan bool
}

func lifeOf(o metav1.Object) life {
	if o == nil {
		return life{}
	}
	f := o.GetFinalizers()
	return life{
		beingDeleted: o.GetDeletionTimestamp() != nil,
		foreground:   slices.Contains(f, metav1.FinalizerDeleteDependents),
		orphan:       slices.Contains(f, metav1.FinalizerOrphanDependents),
	}
}

func blocks(ref metav1.OwnerReference) bool {
	return ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

func (n *node) addDependent(d *node) {
	if n.dependents == nil {
		n.dependents = make(map[*node]struct{})
	}
	n.dependents[d] = struct{}{}
}

// blocking returns the dependents that a foreground deletion waits for.
func (n *node) blocking() []*node {
	var out []*node
	for d := range n.dependents {
		if slices.ContainsFunc(d.owners, func(ref metav1.OwnerReference) bool {
			return ref.UID == n.id.uid && blocks(ref)
		}) {
			out = append(out, d)
		}
	}
	return out
}

// partition divides dependents into those that claim the owner's identity and those that claim a wrong one; one
// with two references may be in both.
func partition(dependents map[*node]struct{}, owner identity) (right, wrong []*node) {
	for d := range dependents {
		if owner.namespace != "" && owner.namespace != d.id.namespace {
			wrong = append(wrong, d)
			continue
		}
		isRight, isWrong := false, false
		for _, ref := range d.owners {
			if ref.UID != owner.uid {
				continue
			}
			if owner.meets(ref) {
				isRight = true
			} else {
				isWrong = true
			}
		}
		if isRight {
			right = append(right, d)
		}
		if isWrong {
			wrong = append(wrong, d)
		}
	}
	return right, wrong
}
