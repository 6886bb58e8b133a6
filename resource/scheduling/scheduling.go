// Package scheduling describes priority classes.
package scheduling

import (
	schedulingv1 "k8s.io/api/scheduling/v1"

	"fairlead.dev/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.InCluster[schedulingv1.PriorityClass, schedulingv1.PriorityClassList](schedulingv1.SchemeGroupVersion, "priorityclasses").
			Short("pc"),
	}
}
