package replicas

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
)

// Kind is how the engine reads and writes one kind of object.
type Kind[T client.Object] struct {
	Name      string // of the controller
	Component string // that events are from
	GVK       schema.GroupVersionKind
	// View reads the object. An error says that its selector is unusable.
	View func(T) (View, error)
	// WithStatus returns a copy of the object that bears the status.
	WithStatus func(T, appsv1.ReplicaSetStatus) T
	// Terminating says that the kind's status counts pods on their way out.
	Terminating bool
}

// View is what the engine needs to know of an object. It shares its memory.
type View struct {
	Replicas int
	MinReady time.Duration
	Selector labels.Selector
	Template *corev1.PodTemplateSpec
	Status   appsv1.ReplicaSetStatus
}
