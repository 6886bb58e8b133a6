package resource

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Strategy is how objects of one kind are written. Each member may be nil: then that step is skipped. Kinds
// define theirs with [Rules].
type Strategy struct {
	// Default sets default values. It is idempotent.
	Default func(obj runtime.Object)
	// PrepareForCreate clears fields that users may not set on create (status) and initializes the generation.
	PrepareForCreate func(obj runtime.Object)
	// PrepareForUpdate restores fields that an update may not change (status) and increments the generation if the
	// desired state has changed. The caller must not change the generation.
	PrepareForUpdate func(obj, old runtime.Object)
	// PrepareForStatusUpdate restores everything except the status.
	PrepareForStatusUpdate func(obj, old runtime.Object)

	// Validate returns all errors of an object, except those of its metadata (see ValidateObjectMeta).
	Validate                             func(obj runtime.Object) field.ErrorList
	ValidateUpdate, ValidateStatusUpdate func(obj, old runtime.Object) field.ErrorList
	// Drop clears fields of disabled features, unless old, which is nil for a create, has them; it returns warnings
	// about them. It runs before Prepare.
	Drop func(obj, old runtime.Object) []string
	// DropStatus is Drop for the fields of a status; it runs on a write of the status subresource.
	DropStatus func(obj, old runtime.Object) []string
	// Warnings are texts for Warning headers of the response. On an update, UpdateWarnings replaces it if set.
	Warnings       func(obj runtime.Object) []string
	UpdateWarnings func(obj, old runtime.Object) []string

	AllowCreateOnUpdate    bool // PUT of a name that does not exist creates it
	RequireResourceVersion bool // an update must have a resourceVersion
	// OrphanByDefault makes a delete without a propagation policy orphan the object's dependents: the default of
	// the kinds that are older than the garbage collector. OrphanWarning, if set, is then sent as a warning.
	OrphanByDefault bool
	OrphanWarning   string

	// Graceful returns the grace period of a delete in seconds, and whether the delete is graceful at all. Nil
	// means that deletes are immediate.
	Graceful func(obj runtime.Object, opts *metav1.DeleteOptions) (graceSeconds int64, graceful bool)

	// Expires: objects are deleted some time after their last write; see server.Config.EventTTL.
	Expires bool
	// NoDependents: nothing can depend on an object, so a delete sets no finalizers of the
	// garbage collector.
	NoDependents bool

	// PrepareForDelete is set for kinds whose deletion always waits for a finalizer. The first delete marks the
	// object as terminating and lets this function add that finalizer.
	PrepareForDelete func(obj runtime.Object)
	// Finalizing reports whether an object has finalizers of its kind beside those in its
	// metadata: a deleted object stays until they are gone, too, and the first delete also sets
	// the finalizers of the garbage collector. Nil means that it has none.
	Finalizing func(obj runtime.Object) bool

	Scale *ScaleAccess // nil for kinds without /scale
}

// Rules are a Strategy with the kind's own Go type in place of runtime.Object.
type Rules[T Object] struct {
	Default                              func(T)
	PrepareForCreate                     func(T)
	PrepareForUpdate                     func(obj, old T)
	PrepareForStatusUpdate               func(obj, old T)
	Validate                             func(T) field.ErrorList
	ValidateUpdate, ValidateStatusUpdate func(obj, old T) field.ErrorList
	Warnings                             func(T) []string
	UpdateWarnings                       func(obj, old T) []string
	PrepareForDelete                     func(T)
	Finalizing                           func(T) bool
	Expires, NoDependents                bool
	AllowCreateOnUpdate                  bool
	RequireResourceVersion               bool
	OrphanByDefault                      bool
	OrphanWarning                        string
	Graceful                             func(T, *metav1.DeleteOptions) (int64, bool)
	Scale                                *ScaleAccess
}

// Object is the interface of every API object.
type Object interface {
	runtime.Object
	metav1.Object
}

// Strategy converts the rules to a Strategy. Its updates start from the old object's generation, whatever the new
// object contains.
func (r Rules[T]) Strategy() Strategy {
	s := Strategy{
		AllowCreateOnUpdate:    r.AllowCreateOnUpdate,
		RequireResourceVersion: r.RequireResourceVersion,
		OrphanByDefault:        r.OrphanByDefault,
		OrphanWarning:          r.OrphanWarning,
		Expires:                r.Expires,
		NoDependents:           r.NoDependents,
		Scale:                  r.Scale,
		Default:                typedFunc(r.Default),
		PrepareForCreate:       typedFunc(r.PrepareForCreate),
		PrepareForUpdate:       typedPrepare(r.PrepareForUpdate),
		PrepareForStatusUpdate: typedPrepare(r.PrepareForStatusUpdate),
		ValidateUpdate:         typedCompare(r.ValidateUpdate),
		ValidateStatusUpdate:   typedCompare(r.ValidateStatusUpdate),
		PrepareForDelete:       typedFunc(r.PrepareForDelete),
	}
	if r.Finalizing != nil {
		s.Finalizing = func(obj runtime.Object) bool { return r.Finalizing(obj.(T)) }
	}
	if r.Validate != nil {
		s.Validate = func(obj runtime.Object) field.ErrorList { return r.Validate(obj.(T)) }
	}
	if r.Warnings != nil {
		s.Warnings = func(obj runtime.Object) []string { return r.Warnings(obj.(T)) }
	}
	if r.UpdateWarnings != nil {
		s.UpdateWarnings = func(obj, old runtime.Object) []string { return r.UpdateWarnings(obj.(T), old.(T)) }
	}
	if r.Graceful != nil {
		s.Graceful = func(obj runtime.Object, o *metav1.DeleteOptions) (int64, bool) { return r.Graceful(obj.(T), o) }
	}
	return s
}

func typedFunc[T runtime.Object](f func(T)) func(runtime.Object) {
	if f == nil {
		return nil
	}
	return func(obj runtime.Object) { f(obj.(T)) }
}

func typedPrepare[T Object](f func(T, T)) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) {
		o, p := obj.(T), old.(T)
		o.SetGeneration(p.GetGeneration())
		if f != nil {
			f(o, p)
		}
	}
}

func typedCompare[T runtime.Object](f func(T, T) field.ErrorList) func(obj, old runtime.Object) field.ErrorList {
	if f == nil {
		return nil
	}
	return func(obj, old runtime.Object) field.ErrorList { return f(obj.(T), old.(T)) }
}
