// Package dynamicresources describes the kinds of group resource.k8s.io:
// devices and the claims on them.
package dynamicresources

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := resourcev1.SchemeGroupVersion
	return []*resource.Resource{
		resource.ClusterScoped[resourcev1.DeviceClass, resourcev1.DeviceClassList](gv, "deviceclasses").
			WithTable(classTable).WithStrategy(classStrategy()),
		resource.ClusterScoped[resourcev1.DeviceTaintRule, resourcev1.DeviceTaintRuleList](gv, "devicetaintrules").
			WithStatus().WithTable(taintTable).WithStrategy(taintStrategy()),
		resource.NamespaceScoped[resourcev1.ResourceClaim, resourcev1.ResourceClaimList](gv, "resourceclaims").
			WithStatus().WithTable(claimTable).WithStrategy(claimStrategy()),
		resource.NamespaceScoped[resourcev1.ResourceClaimTemplate, resourcev1.ResourceClaimTemplateList](gv, "resourceclaimtemplates").
			WithTable(templateTable).WithStrategy(templateStrategy),
		resource.ClusterScoped[resourcev1.ResourceSlice, resourcev1.ResourceSliceList](gv, "resourceslices").
			WithSelectableFields(resource.FieldAt("spec.nodeName", "").Index(), resource.FieldAt("spec.driver", "")).
			WithSelectorError(func(gvk schema.GroupVersionKind, label string) error {
				return fmt.Errorf("field label not supported for %s: %s", gvk, label)
			}).
			WithTable(sliceTable).WithStrategy(sliceStrategy()),
	}
}
