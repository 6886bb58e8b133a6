// Package storage describes the kinds of group storage.k8s.io: classes of
// volumes and the drivers behind them.
package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	storagev1beta1 "k8s.io/api/storage/v1beta1"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := storagev1.SchemeGroupVersion
	return []*resource.Resource{
		resource.ClusterScoped[storagev1.CSIDriver, storagev1.CSIDriverList](gv, "csidrivers").
			WithTable(driverTable).WithStrategy(driverStrategy),
		resource.ClusterScoped[storagev1.CSINode, storagev1.CSINodeList](gv, "csinodes").
			WithTable(csiNodeTable).WithStrategy(csiNodeStrategy),
		resource.NamespaceScoped[storagev1.CSIStorageCapacity, storagev1.CSIStorageCapacityList](gv, "csistoragecapacities").
			WithTable(capacityTable).WithStrategy(capacityStrategy),
		resource.ClusterScoped[storagev1.StorageClass, storagev1.StorageClassList](gv, "storageclasses").
			WithShortNames("sc").WithTable(classTable).WithStrategy(classStrategy),
		resource.ClusterScoped[storagev1.VolumeAttachment, storagev1.VolumeAttachmentList](gv, "volumeattachments").
			WithStatus().WithTable(attachmentTable).WithStrategy(attachmentStrategy()),
		resource.ClusterScoped[storagev1.VolumeAttributesClass, storagev1.VolumeAttributesClassList](gv, "volumeattributesclasses").
			WithShortNames("vac").WithTable(attributesTable).WithStrategy(attributesStrategy).
			WithVersionOnRequest(resource.VersionOf[storagev1beta1.VolumeAttributesClass, storagev1beta1.VolumeAttributesClassList]("v1beta1"), nil, nil),
	}
}
