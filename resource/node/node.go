// Package node describes runtime classes.
package node

import (
	nodev1 "k8s.io/api/node/v1"

	"fairlead.dev/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.InCluster[nodev1.RuntimeClass, nodev1.RuntimeClassList](nodev1.SchemeGroupVersion, "runtimeclasses"),
	}
}
