// Package discovery describes endpoint slices.
package discovery

import (
	discoveryv1 "k8s.io/api/discovery/v1"

	"fairlead.dev/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.InNamespace[discoveryv1.EndpointSlice, discoveryv1.EndpointSliceList](discoveryv1.SchemeGroupVersion, "endpointslices"),
	}
}
