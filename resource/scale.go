package resource

import "k8s.io/apimachinery/pkg/runtime"

// ScaleAccess reads and writes what the scale subresource shows of a kind.
type ScaleAccess struct {
	// Replicas is the desired number, StatusReplicas the one last observed.
	Replicas, StatusReplicas func(obj runtime.Object) int32
	SetReplicas              func(obj runtime.Object, n int32)
	// Selector is the label selector in its string form.
	Selector func(obj runtime.Object) (string, error)
}
