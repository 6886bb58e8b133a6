package resource

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/resource/check"
)

// Split gives the rules that follow from a kind having a spec and a status:
// a create and an update leave the status to its subresource, and a write of
// the status leaves the spec alone.
func Split[T Object, Spec, Status any](parts func(T) (*Spec, *Status)) Rules[T] {
	return Rules[T]{
		PrepareForCreate: func(obj T) {
			_, status := parts(obj)
			*status = *new(Status)
		},
		PrepareForUpdate: func(obj, old T) {
			_, status := parts(obj)
			_, was := parts(old)
			*status = *was
		},
		PrepareForStatusUpdate: func(obj, old T) {
			spec, _ := parts(obj)
			was, _ := parts(old)
			*spec = *was
		},
	}
}

// SplitCounted is Split for a kind whose generation counts changes of the spec.
func SplitCounted[T Object, Spec, Status any](parts func(T) (*Spec, *Status)) Rules[T] {
	r := Split(parts)
	create, update := r.PrepareForCreate, r.PrepareForUpdate
	r.PrepareForCreate = func(obj T) {
		create(obj)
		obj.SetGeneration(1)
	}
	r.PrepareForUpdate = func(obj, old T) {
		update(obj, old)
		spec, _ := parts(obj)
		was, _ := parts(old)
		Count(obj, old, spec, was)
	}
	return r
}

// Counted gives the rules of a kind without status whose generation counts
// changes of what the function returns.
func Counted[T Object, Spec any](spec func(T) *Spec) Rules[T] {
	return Rules[T]{
		PrepareForCreate: func(obj T) { obj.SetGeneration(1) },
		PrepareForUpdate: func(obj, old T) { Count(obj, old, spec(obj), spec(old)) },
	}
}

// Count sets the generation of a changed object: one more than the old one's
// if the two desired states differ, the same otherwise. Nil and empty lists
// are the same.
func Count(obj, old metav1.Object, desired, was any) {
	n := old.GetGeneration()
	if !check.Same(desired, was) {
		n++
	}
	obj.SetGeneration(n)
}

// KeepMeta gives an object the metadata of the old one, bar the fields that
// the server keeps itself. It is for status writes of kinds that let the
// status alone be changed there.
func KeepMeta(obj, old metav1.Object) {
	obj.SetDeletionTimestamp(old.GetDeletionTimestamp())
	obj.SetGeneration(old.GetGeneration())
	obj.SetSelfLink(old.GetSelfLink())
	obj.SetLabels(old.GetLabels())
	obj.SetAnnotations(old.GetAnnotations())
	obj.SetFinalizers(old.GetFinalizers())
	obj.SetOwnerReferences(old.GetOwnerReferences())
}
