package dynamicresources

import (
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var claimTable = resource.TableOf(func(c *resourcev1.ResourceClaim) []any {
	return []any{c.Name, claimState(c), resource.AgeOf(c)}
}, resource.NameColumn, resource.Text("State", "Whether the claim has devices, and whether they are in use."), resource.AgeColumn)

func claimState(c *resourcev1.ResourceClaim) string {
	var states []string
	gone := c.DeletionTimestamp != nil
	if gone {
		states = append(states, "deleted")
	}
	switch {
	case c.Status.Allocation != nil:
		states = append(states, "allocated")
		if len(c.Status.ReservedFor) > 0 {
			states = append(states, "reserved")
		}
	case !gone:
		states = append(states, "pending")
	}
	return strings.Join(states, ",")
}

var templateTable = resource.TableOf(func(t *resourcev1.ResourceClaimTemplate) []any {
	return []any{t.Name, resource.AgeOf(t)}
}, resource.NameColumn, resource.AgeColumn)

func claimStrategy() resource.Strategy {
	r := resource.SpecAndStatus(func(c *resourcev1.ResourceClaim) (*resourcev1.ResourceClaimSpec, *resourcev1.ResourceClaimStatus) {
		return &c.Spec, &c.Status
	}).KeepMeta()
	r.Default = func(c *resourcev1.ResourceClaim) {
		defaultClaim(&c.Spec)
		if a := c.Status.Allocation; a != nil {
			for i := range a.Devices.Results {
				defaultTolerations(a.Devices.Results[i].Tolerations)
			}
		}
	}
	r.Validate = func(c *resourcev1.ResourceClaim) field.ErrorList {
		var f check.Errors
		claim(&f, check.At("spec"), &c.Spec)
		return f.List()
	}
	r.ValidateUpdate = func(c, old *resourcev1.ResourceClaim) field.ErrorList {
		var f check.Errors
		f.Immutable(check.At("spec"), c.Spec, old.Spec)
		return f.List()
	}
	r.ValidateStatusUpdate = func(c, old *resourcev1.ResourceClaim) field.ErrorList {
		var f check.Errors
		claimStatus(&f, check.At("status"), c, old)
		return f.List()
	}
	create, update := r.PrepareForCreate, r.PrepareForUpdate
	r.PrepareForCreate = func(c *resourcev1.ResourceClaim) {
		create(c)
		resource.NilIfEmpty(&c.Spec.Devices.Requests)
	}
	r.PrepareForUpdate = func(c, old *resourcev1.ResourceClaim) {
		update(c, old)
		if len(old.Spec.Devices.Requests) == 0 {
			resource.NilIfEmpty(&c.Spec.Devices.Requests)
		}
	}
	report := r.PrepareForStatusUpdate
	r.PrepareForStatusUpdate = func(c, old *resourcev1.ResourceClaim) {
		report(c, old)
		dropDeallocated(&c.Status, &old.Status)
	}
	return r.Strategy()
}

var templateStrategy = resource.Rules[*resourcev1.ResourceClaimTemplate]{
	Default:          func(t *resourcev1.ResourceClaimTemplate) { defaultClaim(&t.Spec.Spec) },
	PrepareForCreate: func(t *resourcev1.ResourceClaimTemplate) { resource.NilIfEmpty(&t.Spec.Spec.Devices.Requests) },
	PrepareForUpdate: func(t, old *resourcev1.ResourceClaimTemplate) {
		if len(old.Spec.Spec.Devices.Requests) == 0 {
			resource.NilIfEmpty(&t.Spec.Spec.Devices.Requests)
		}
	},
	Validate: func(t *resourcev1.ResourceClaimTemplate) field.ErrorList {
		var f check.Errors
		podspec.TemplateMeta(&f, check.At("spec", "metadata"), &t.Spec.ObjectMeta)
		claim(&f, check.At("spec", "spec"), &t.Spec.Spec)
		return f.List()
	},
	ValidateUpdate: func(t, old *resourcev1.ResourceClaimTemplate) field.ErrorList {
		var f check.Errors
		f.Same(check.At("spec"), t.Spec, old.Spec)
		return f.List()
	},
}.Strategy()

func defaultClaim(s *resourcev1.ResourceClaimSpec) {
	one := func(mode *resourcev1.DeviceAllocationMode, count *int64, tolerations []resourcev1.DeviceToleration) {
		if *mode == "" {
			*mode = resourcev1.DeviceAllocationModeExactCount
		}
		if *mode == resourcev1.DeviceAllocationModeExactCount && *count == 0 {
			*count = 1
		}
		defaultTolerations(tolerations)
	}
	for i := range s.Devices.Requests {
		r := &s.Devices.Requests[i]
		if r.Exactly != nil {
			one(&r.Exactly.AllocationMode, &r.Exactly.Count, r.Exactly.Tolerations)
		}
		for k := range r.FirstAvailable {
			one(&r.FirstAvailable[k].AllocationMode, &r.FirstAvailable[k].Count, r.FirstAvailable[k].Tolerations)
		}
	}
}

func defaultTolerations(list []resourcev1.DeviceToleration) {
	for i := range list {
		if list[i].Operator == "" {
			list[i].Operator = resourcev1.DeviceTolerationOpEqual
		}
	}
}
