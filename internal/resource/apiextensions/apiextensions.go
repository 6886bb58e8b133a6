// Package apiextensions describes custom resource definitions. The kinds they define are described by
// internal/resource/custom.
package apiextensions

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	definitions := resource.ClusterScoped[apiextensionsv1.CustomResourceDefinition, apiextensionsv1.CustomResourceDefinitionList](apiextensionsv1.SchemeGroupVersion, "customresourcedefinitions").
		WithStoragePrefix("/registry/apiextensions.k8s.io/customresourcedefinitions").
		WithStatus().WithShortNames("crd", "crds").WithCategories("api-extensions").WithTable(table).WithStrategy(strategy())
	definitions.Unserved = []resource.Version{stored}
	return []*resource.Resource{definitions}
}
