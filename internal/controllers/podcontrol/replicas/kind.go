package replicas

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
)

// Kind adapts the engine to one kind of object.
type Kind[T client.Object] struct {
	Name      string // of the controller
	Component string // the source component of events
	GVK       schema.GroupVersionKind
	// View returns the engine's view of an object. It returns an error if the selector is invalid.
	View func(T) (View, error)
	// WithStatus returns a copy of the object with the status.
	WithStatus func(T, appsv1.ReplicaSetStatus) T
	// Terminating makes the status count terminating pods.
	Terminating bool
}

// View is the engine's view of an object. It shares the object's memory.
type View struct {
	Replicas int
	MinReady time.Duration
	Selector labels.Selector
	Template *corev1.PodTemplateSpec
	Status   appsv1.ReplicaSetStatus
}
