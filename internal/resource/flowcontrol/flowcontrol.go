// Package flowcontrol describes flow schemas and priority levels.
package flowcontrol

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"fairlead.dev/internal/resource"
)

const inert = "this server does not tell requests apart by FlowSchemas and PriorityLevelConfigurations: the object has no effect"

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := flowcontrolv1.SchemeGroupVersion
	return []*resource.Resource{
		resource.ClusterScoped[flowcontrolv1.FlowSchema, flowcontrolv1.FlowSchemaList](gv, "flowschemas").
			WithStatus().WithNoEffectWarning(inert).WithTable(schemaTable).WithStrategy(schemaStrategy()),
		resource.ClusterScoped[flowcontrolv1.PriorityLevelConfiguration, flowcontrolv1.PriorityLevelConfigurationList](gv, "prioritylevelconfigurations").
			WithStatus().WithNoEffectWarning(inert).WithTable(levelTable).WithStrategy(levelStrategy()),
	}
}
