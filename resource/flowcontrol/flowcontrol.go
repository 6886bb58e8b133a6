// Package flowcontrol describes flow schemas and priority levels.
package flowcontrol

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"fairlead.dev/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := flowcontrolv1.SchemeGroupVersion
	return []*resource.Resource{
		resource.InCluster[flowcontrolv1.FlowSchema, flowcontrolv1.FlowSchemaList](gv, "flowschemas").
			WithStatus().Shown(schemaTable).Ruled(schemaStrategy()),
		resource.InCluster[flowcontrolv1.PriorityLevelConfiguration, flowcontrolv1.PriorityLevelConfigurationList](gv, "prioritylevelconfigurations").
			WithStatus().Shown(levelTable).Ruled(levelStrategy()),
	}
}
