// Package storagemigration describes storage version migrations.
package storagemigration

import (
	migrationv1 "k8s.io/api/storagemigration/v1"

	"fairlead.dev/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.InCluster[migrationv1.StorageVersionMigration, migrationv1.StorageVersionMigrationList](migrationv1.SchemeGroupVersion, "storageversionmigrations").
			WithStatus(),
	}
}
