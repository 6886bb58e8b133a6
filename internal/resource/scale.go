package resource

import "k8s.io/apimachinery/pkg/runtime"

// ScaleAccess reads and writes what the scale subresource shows of a kind.
type ScaleAccess struct {
	// Replicas is the desired number, StatusReplicas the one last observed.
	Replicas, StatusReplicas func(obj runtime.Object) int32
	SetReplicas              func(obj runtime.Object, n int32)
	// Path is where the desired number stands; nil means spec.replicas.
	Path []string
	// Check, if set, says why an object cannot be shown as a Scale: it has no
	// desired number. Replicas then gives the lowest number there is.
	Check func(obj runtime.Object) error
	// Selector is the label selector in its string form.
	Selector func(obj runtime.Object) (string, error)
}
