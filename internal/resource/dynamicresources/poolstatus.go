package dynamicresources

import (
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

// The largest lists in the status of a ResourcePoolStatusRequest, and the length of a pool's error.
const (
	maxPoolConditions = 10
	maxPoolViews      = 32
	maxPoolError      = 256
)

var poolStatusTable = resource.TableOf(func(r *resourcev1alpha3.ResourcePoolStatusRequest) []any {
	return []any{r.Name, resource.CreatedAt(r)}
}, resource.NameColumn, resource.CreatedColumn)

func poolStatusStrategy() resource.Strategy {
	r := resource.SpecAndStatus(func(r *resourcev1alpha3.ResourcePoolStatusRequest) (*resourcev1alpha3.ResourcePoolStatusRequestSpec, **resourcev1alpha3.ResourcePoolStatusRequestStatus) {
		return &r.Spec, &r.Status
	}).KeepMeta()
	r.Default = func(r *resourcev1alpha3.ResourcePoolStatusRequest) {
		resource.SetDefault(&r.Spec.Limit, resourcev1alpha3.ResourcePoolStatusRequestLimitDefault)
	}
	r.Validate = func(r *resourcev1alpha3.ResourcePoolStatusRequest) field.ErrorList {
		var f check.Errors
		p, s := check.At("spec"), &r.Spec
		driverName(&f, p.Child("driver"), s.Driver)
		if s.PoolName != nil {
			poolName(&f, p.Child("poolName"), *s.PoolName)
		}
		if n := ptr.Deref(s.Limit, 1); n < 1 {
			f.Invalid(p.Child("limit"), n, content.MinError(1))
		} else if n > resourcev1alpha3.ResourcePoolStatusRequestLimitMax {
			f.Invalid(p.Child("limit"), n, content.MaxError(resourcev1alpha3.ResourcePoolStatusRequestLimitMax))
		}
		if name := s.DefaultPartitionTypeAttribute; name != nil {
			wholeAttributeName(&f, p.Child("defaultPartitionTypeAttribute"), *name)
		}
		return f.List()
	}
	r.ValidateUpdate = func(r, old *resourcev1alpha3.ResourcePoolStatusRequest) field.ErrorList {
		var f check.Errors
		f.Same(check.At("spec"), r.Spec, old.Spec)
		return f.List()
	}
	r.ValidateStatusUpdate = func(r, old *resourcev1alpha3.ResourcePoolStatusRequest) field.ErrorList {
		var f check.Errors
		switch p := check.At("status"); {
		case old.Status != nil:
			f.Same(p, r.Status, old.Status)
		case r.Status != nil:
			poolStatuses(&f, p, r.Status)
		}
		return f.List()
	}
	r.RequireResourceVersion = true
	return r.Strategy()
}

// driverName requires the name of a driver, of any length that a subdomain has.
func driverName(f *check.Errors, p *check.Path, name string) {
	if name == "" {
		f.Required(p, "")
		return
	}
	//lint:ignore SA1019 the rule and its words are kube-apiserver's
	f.Each(p, name, content.IsDNS1123SubdomainCaseless(name))
}

func poolStatuses(f *check.Errors, p *check.Path, s *resourcev1alpha3.ResourcePoolStatusRequestStatus) {
	f.Add(metavalidation.ValidateConditions(s.Conditions, p.Child("conditions").Field())...)
	if len(s.Conditions) > maxPoolConditions {
		f.Add(field.TooMany(p.Child("conditions").Field(), len(s.Conditions), maxPoolConditions))
	}
	count(f, p.Child("poolCount"), s.PoolCount, 0, true)
	validateList(f, p.Child("pools"), s.Pools, int(resourcev1alpha3.ResourcePoolStatusRequestLimitMax), func(p *check.Path, s *resourcev1alpha3.PoolStatus) {
		poolStatus(f, p, s)
	})
}

func poolStatus(f *check.Errors, p *check.Path, s *resourcev1alpha3.PoolStatus) {
	driverName(f, p.Child("driver"), s.Driver)
	poolName(f, p.Child("poolName"), s.PoolName)
	if s.Generation < 0 {
		f.Invalid(p.Child("generation"), s.Generation, content.MinError(0))
	}
	count(f, p.Child("resourceSliceCount"), s.ResourceSliceCount, 1, false)
	count(f, p.Child("totalDevices"), s.TotalDevices, 0, false)
	count(f, p.Child("allocatedDevices"), s.AllocatedDevices, 0, false)
	count(f, p.Child("availableDevices"), s.AvailableDevices, 0, false)
	count(f, p.Child("unavailableDevices"), s.UnavailableDevices, 0, false)
	if s.NodeName != nil {
		f.Subdomain(p.Child("nodeName"), *s.NodeName)
	}
	if len(ptr.Deref(s.ValidationError, "")) > maxPoolError {
		f.Add(field.TooLong(p.Child("validationError").Field(), "", maxPoolError))
	}
	partitions(f, p.Child("partitionSummary"), s.PartitionSummary)
	if s.ShareableSummary != nil {
		shareable(f, p.Child("shareableSummary"), s.ShareableSummary)
	}
}

func partitions(f *check.Errors, p *check.Path, list []resourcev1alpha3.PartitionTypeStatus) {
	validateKeyed(f, p, list, maxPoolViews,
		func(s *resourcev1alpha3.PartitionTypeStatus) [2]string { return [2]string{s.Attribute, s.Type} },
		func(p *check.Path, s *resourcev1alpha3.PartitionTypeStatus) {
			requireText(f, p.Child("attribute"), s.Attribute)
			requireText(f, p.Child("type"), s.Type)
			count(f, p.Child("total"), s.Total, 0, true)
			count(f, p.Child("allocatable"), s.Allocatable, 0, true)
		})
}

func shareable(f *check.Errors, p *check.Path, s *resourcev1alpha3.ShareableSummaryStatus) {
	count(f, p.Child("fullyAvailableDevices"), s.FullyAvailableDevices, 0, true)
	count(f, p.Child("partiallyAvailableDevices"), s.PartiallyAvailableDevices, 0, true)
	validateList(f, p.Child("capacity"), s.Capacity, maxPoolViews, func(p *check.Path, c *resourcev1alpha3.ShareableCapacityStatus) {
		requireText(f, p.Child("name"), c.Name)
		for name, q := range map[string]*apiresource.Quantity{"total": c.Total, "consumed": c.Consumed, "available": c.Available} {
			if q == nil {
				f.Required(p.Child(name), "")
			}
		}
	})
}

// count requires a number of at least a minimum, which may be missing unless it is required.
func count(f *check.Errors, p *check.Path, n *int32, least int32, required bool) {
	switch {
	case n == nil && required:
		f.Required(p, "")
	case n != nil && *n < least:
		f.Invalid(p, *n, content.MinError(least))
	}
}
