// Package coordination describes leases.
package coordination

import (
	coordinationv1 "k8s.io/api/coordination/v1"

	"fairlead.dev/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.InNamespace[coordinationv1.Lease, coordinationv1.LeaseList](coordinationv1.SchemeGroupVersion, "leases"),
	}
}
