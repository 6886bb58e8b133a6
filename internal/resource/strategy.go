package resource

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Strategy is how objects of one kind change. Every member may be nil: then
// there is nothing to do at that point. Kinds write theirs with [Rules].
type Strategy struct {
	// Default fills what the user left out. It is idempotent.
	Default func(obj runtime.Object)
	// PrepareForCreate clears what a user may not set on create (status) and
	// starts the generation.
	PrepareForCreate func(obj runtime.Object)
	// PrepareForUpdate keeps what an update may not change (status) and
	// counts the generation up if the desired state changed. The caller has
	// not to touch the generation.
	PrepareForUpdate func(obj, old runtime.Object)
	// PrepareForStatusUpdate keeps everything but the status.
	PrepareForStatusUpdate func(obj, old runtime.Object)

	// Validate reports all faults of an object, bar those of its metadata
	// (see ValidateObjectMeta).
	Validate                             func(obj runtime.Object) field.ErrorList
	ValidateUpdate, ValidateStatusUpdate func(obj, old runtime.Object) field.ErrorList
	// Drop takes off fields whose features are not there, unless old, which is nil for a
	// create, has them; it returns warnings about them. It comes before Prepare.
	Drop func(obj, old runtime.Object) []string
	// Warnings are sentences for the Warning header of the answer. On an update
	// UpdateWarnings takes its place if it is set.
	Warnings       func(obj runtime.Object) []string
	UpdateWarnings func(obj, old runtime.Object) []string

	AllowCreateOnUpdate    bool // PUT of a name that does not exist creates it
	RequireResourceVersion bool // an update must say which version it read
	// OrphanByDefault keeps an object's dependents when a delete does not say
	// what shall become of them: the default of the kinds that are older than
	// the garbage collector. OrphanWarning, if there is one, then tells so.
	OrphanByDefault bool
	OrphanWarning   string

	// Graceful says how long an object goes on after a delete, in seconds,
	// and whether it does at all. Nil means never: deletes are immediate.
	Graceful func(obj runtime.Object, opts *metav1.DeleteOptions) (graceSeconds int64, graceful bool)

	// PrepareForDelete is set for kinds whose objects are always waited for. The
	// first delete marks an object as going, lets this function add the finalizer
	// that is waited for, and does nothing else.
	PrepareForDelete func(obj runtime.Object)

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
	AllowCreateOnUpdate                  bool
	RequireResourceVersion               bool
	OrphanByDefault                      bool
	OrphanWarning                        string
	Graceful                             func(T, *metav1.DeleteOptions) (int64, bool)
	Scale                                *ScaleAccess
}

// Object is what every API object is.
type Object interface {
	runtime.Object
	metav1.Object
}

// Strategy gives the rules the table's form. Its updates start from the old
// object's generation, whatever the new one says.
func (r Rules[T]) Strategy() Strategy {
	s := Strategy{
		AllowCreateOnUpdate:    r.AllowCreateOnUpdate,
		RequireResourceVersion: r.RequireResourceVersion,
		OrphanByDefault:        r.OrphanByDefault,
		OrphanWarning:          r.OrphanWarning,
		Scale:                  r.Scale,
		Default:                one(r.Default),
		PrepareForCreate:       one(r.PrepareForCreate),
		PrepareForUpdate:       prepare(r.PrepareForUpdate),
		PrepareForStatusUpdate: prepare(r.PrepareForStatusUpdate),
		ValidateUpdate:         compare(r.ValidateUpdate),
		ValidateStatusUpdate:   compare(r.ValidateStatusUpdate),
		PrepareForDelete:       one(r.PrepareForDelete),
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

func one[T runtime.Object](f func(T)) func(runtime.Object) {
	if f == nil {
		return nil
	}
	return func(obj runtime.Object) { f(obj.(T)) }
}

func prepare[T Object](f func(T, T)) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) {
		o, p := obj.(T), old.(T)
		o.SetGeneration(p.GetGeneration())
		if f != nil {
			f(o, p)
		}
	}
}

func compare[T runtime.Object](f func(T, T) field.ErrorList) func(obj, old runtime.Object) field.ErrorList {
	if f == nil {
		return nil
	}
	return func(obj, old runtime.Object) field.ErrorList { return f(obj.(T), old.(T)) }
}
