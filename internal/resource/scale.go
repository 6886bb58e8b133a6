package resource

import "k8s.io/apimachinery/pkg/runtime"

// ScaleAccess reads and writes the scale subresource of a kind.
type ScaleAccess struct {
	// Replicas is the desired number, StatusReplicas the last observed one.
	Replicas, StatusReplicas func(obj runtime.Object) int32
	SetReplicas              func(obj runtime.Object, n int32)
	// Path is the path of the desired number; nil means spec.replicas.
	Path []string
	// Check, if set, returns an error for an object without a desired number, which has no Scale. Replicas then
	// returns the lowest possible number.
	Check func(obj runtime.Object) error
	// Selector returns the label selector in its string form.
	Selector func(obj runtime.Object) (string, error)
}
