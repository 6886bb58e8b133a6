// Package storage describes the kinds of group storage.k8s.io: classes of
// volumes and the drivers behind them.
package storage

import (
	storagev1 "k8s.io/api/storage/v1"

	"fairlead.dev/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := storagev1.SchemeGroupVersion
	return []*resource.Resource{
		resource.InCluster[storagev1.CSIDriver, storagev1.CSIDriverList](gv, "csidrivers"),
		resource.InCluster[storagev1.CSINode, storagev1.CSINodeList](gv, "csinodes"),
		resource.InNamespace[storagev1.CSIStorageCapacity, storagev1.CSIStorageCapacityList](gv, "csistoragecapacities"),
		resource.InCluster[storagev1.StorageClass, storagev1.StorageClassList](gv, "storageclasses").
			Short("sc"),
		resource.InCluster[storagev1.VolumeAttachment, storagev1.VolumeAttachmentList](gv, "volumeattachments").
			WithStatus(),
		resource.InCluster[storagev1.VolumeAttributesClass, storagev1.VolumeAttributesClassList](gv, "volumeattributesclasses").
			Short("vac"),
	}
}
