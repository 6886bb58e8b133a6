// Package dynamicresources describes the kinds of group resource.k8s.io:
// devices and the claims on them.
package dynamicresources

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := resourcev1.SchemeGroupVersion
	return []*resource.Resource{
		resource.ClusterScoped[resourcev1.DeviceClass, resourcev1.DeviceClassList](gv, "deviceclasses").
			WithTable(classTable).WithStrategy(classStrategy()).
			WithVersionOnRequest(resource.VersionOf[resourcev1beta2.DeviceClass, resourcev1beta2.DeviceClassList]("v1beta2"), nil, nil).
			WithVersionOnRequest(resource.VersionOf[resourcev1beta1.DeviceClass, resourcev1beta1.DeviceClassList]("v1beta1"), nil, nil),
		resource.ClusterScoped[resourcev1.DeviceTaintRule, resourcev1.DeviceTaintRuleList](gv, "devicetaintrules").
			WithStatus().WithTable(taintTable).WithStrategy(taintStrategy()).
			WithVersionOnRequest(resource.VersionOf[resourcev1beta2.DeviceTaintRule, resourcev1beta2.DeviceTaintRuleList]("v1beta2"), nil, nil).
			WithVersionOnRequest(resource.VersionOf[resourcev1alpha3.DeviceTaintRule, resourcev1alpha3.DeviceTaintRuleList]("v1alpha3"), nil, nil),
		resource.NamespaceScoped[resourcev1.ResourceClaim, resourcev1.ResourceClaimList](gv, "resourceclaims").
			WithStatus().WithTable(claimTable).WithStrategy(claimStrategy()).
			WithVersionOnRequest(resource.VersionOf[resourcev1beta2.ResourceClaim, resourcev1beta2.ResourceClaimList]("v1beta2"), nil, nil).
			WithVersionOnRequest(resource.VersionOf[resourcev1beta1.ResourceClaim, resourcev1beta1.ResourceClaimList]("v1beta1"), exactly(claimRequests), flatten(claimRequests)),
		resource.NamespaceScoped[resourcev1.ResourceClaimTemplate, resourcev1.ResourceClaimTemplateList](gv, "resourceclaimtemplates").
			WithTable(templateTable).WithStrategy(templateStrategy).
			WithVersionOnRequest(resource.VersionOf[resourcev1beta2.ResourceClaimTemplate, resourcev1beta2.ResourceClaimTemplateList]("v1beta2"), nil, nil).
			WithVersionOnRequest(resource.VersionOf[resourcev1beta1.ResourceClaimTemplate, resourcev1beta1.ResourceClaimTemplateList]("v1beta1"), exactly(templateRequests), flatten(templateRequests)),
		resource.ClusterScoped[resourcev1alpha3.ResourcePoolStatusRequest, resourcev1alpha3.ResourcePoolStatusRequestList](resourcev1alpha3.SchemeGroupVersion, "resourcepoolstatusrequests").OnRequest().
			WithStatus().WithTable(poolStatusTable).WithStrategy(poolStatusStrategy()),
		resource.ClusterScoped[resourcev1.ResourceSlice, resourcev1.ResourceSliceList](gv, "resourceslices").
			WithSelectableFields(resource.FieldAt("spec.nodeName", "").Index(), resource.FieldAt("spec.driver", ""), resource.FieldAt("spec.pool.name", "")).
			WithSelectorError(func(gvk schema.GroupVersionKind, label string) error {
				return fmt.Errorf("field label not supported for %s: %s", gvk, label)
			}).
			WithTable(sliceTable).WithStrategy(sliceStrategy()).
			WithVersionOnRequest(resource.VersionOf[resourcev1beta2.ResourceSlice, resourcev1beta2.ResourceSliceList]("v1beta2"), nil, nil).
			WithVersionOnRequest(resource.VersionOf[resourcev1beta1.ResourceSlice, resourcev1beta1.ResourceSliceList]("v1beta1"), withoutBasic, withBasic),
	}
}
