package gates

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// deprecation returns the warning for users of a version of a kind, or "" if the API has not deprecated it; obj is one of its objects.
func (a API) deprecation(gvk schema.GroupVersionKind, obj runtime.Object) string {
	old, ok := obj.(interface{ APILifecycleDeprecated() (major, minor int) })
	if !ok || !a.reached(old.APILifecycleDeprecated()) {
		return ""
	}
	major, minor := old.APILifecycleDeprecated()
	text := fmt.Sprintf("%s %s is deprecated in v%d.%d+", gvk.GroupVersion(), gvk.Kind, major, minor)
	if end, ok := obj.(interface{ APILifecycleRemoved() (major, minor int) }); ok {
		major, minor := end.APILifecycleRemoved()
		text += fmt.Sprintf(", unavailable in v%d.%d+", major, minor)
	}
	if next, ok := obj.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}); ok {
		to := next.APILifecycleReplacement()
		text += fmt.Sprintf("; use %s %s", to.GroupVersion(), to.Kind)
	}
	return text
}
