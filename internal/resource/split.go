package resource

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/resource/check"
)

// SpecAndStatus returns the rules of a kind with a spec and a status: creates and updates do not change the status, and
// status writes do not change the spec.
func SpecAndStatus[T Object, Spec, Status any](parts func(T) (*Spec, *Status)) Rules[T] {
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

// SplitCounted is SpecAndStatus for a kind whose generation counts changes of the spec.
func SplitCounted[T Object, Spec, Status any](parts func(T) (*Spec, *Status)) Rules[T] {
	r := SpecAndStatus(parts)
	create, update := r.PrepareForCreate, r.PrepareForUpdate
	r.PrepareForCreate = func(obj T) {
		create(obj)
		obj.SetGeneration(1)
	}
	r.PrepareForUpdate = func(obj, old T) {
		update(obj, old)
		spec, _ := parts(obj)
		was, _ := parts(old)
		SetGeneration(obj, old, spec, was)
	}
	return r
}

// SpecOnly returns the rules of a kind without a status whose generation counts changes of the result of spec.
func SpecOnly[T Object, Spec any](spec func(T) *Spec) Rules[T] {
	return Rules[T]{
		PrepareForCreate: func(obj T) { obj.SetGeneration(1) },
		PrepareForUpdate: func(obj, old T) { SetGeneration(obj, old, spec(obj), spec(old)) },
	}
}

// SetGeneration sets the generation of a changed object: one more than the old one's if the two desired states differ,
// otherwise the same. Nil and empty lists are equal.
func SetGeneration(obj, old metav1.Object, desired, was any) {
	n := old.GetGeneration()
	if !check.Same(desired, was) {
		n++
	}
	obj.SetGeneration(n)
}

// KeepMeta returns the rules of a kind whose status writes may only change the status: they restore the metadata, too.
func (r Rules[T]) KeepMeta() Rules[T] {
	prepare := r.PrepareForStatusUpdate
	r.PrepareForStatusUpdate = func(obj, old T) {
		RestoreMeta(obj, old)
		prepare(obj, old)
	}
	return r
}

// RestoreMeta restores an object's metadata from the old one, except the fields that the server maintains.
func RestoreMeta(obj, old metav1.Object) {
	obj.SetDeletionTimestamp(old.GetDeletionTimestamp())
	obj.SetGeneration(old.GetGeneration())
	obj.SetSelfLink(old.GetSelfLink())
	obj.SetLabels(old.GetLabels())
	obj.SetAnnotations(old.GetAnnotations())
	obj.SetFinalizers(old.GetFinalizers())
	obj.SetOwnerReferences(old.GetOwnerReferences())
}
