// Package flowcontrol describes flow schemas and priority levels.
package flowcontrol

import (
	"slices"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"fairlead.dev/internal/resource"
)

const inert = "this server does not tell requests apart by FlowSchemas and PriorityLevelConfigurations: the object has no effect"

// WithoutEffect returns the table with a warning for the group's kinds, for a server that does not tell requests apart.
func WithoutEffect(all []*resource.Resource) []*resource.Resource {
	all = slices.Clone(all)
	for i, r := range all {
		if r.Group == flowcontrolv1.GroupName {
			one := *r
			all[i] = one.WithNoEffectWarning(inert)
		}
	}
	return all
}

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := flowcontrolv1.SchemeGroupVersion
	return []*resource.Resource{
		resource.ClusterScoped[flowcontrolv1.FlowSchema, flowcontrolv1.FlowSchemaList](gv, "flowschemas").
			WithStatus().WithTable(schemaTable).WithStrategy(schemaStrategy()),
		resource.ClusterScoped[flowcontrolv1.PriorityLevelConfiguration, flowcontrolv1.PriorityLevelConfigurationList](gv, "prioritylevelconfigurations").
			WithStatus().WithTable(levelTable).WithStrategy(levelStrategy()),
	}
}
