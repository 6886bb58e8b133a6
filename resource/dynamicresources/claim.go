package dynamicresources

import (
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/resource"
	"fairlead.dev/resource/check"
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
	r := resource.Split(func(c *resourcev1.ResourceClaim) (*resourcev1.ResourceClaimSpec, *resourcev1.ResourceClaimStatus) {
		return &c.Spec, &c.Status
	})
	keep := r.PrepareForStatusUpdate
	r.PrepareForStatusUpdate = func(c, old *resourcev1.ResourceClaim) {
		resource.KeepMeta(c, old)
		keep(c, old)
	}
	r.Default = func(c *resourcev1.ResourceClaim) {
		defaultClaim(&c.Spec)
		if a := c.Status.Allocation; a != nil {
			for i := range a.Devices.Results {
				defaultTolerations(a.Devices.Results[i].Tolerations)
			}
		}
	}
	r.Validate = func(c *resourcev1.ResourceClaim) field.ErrorList {
		var f check.Faults
		claim(&f, field.NewPath("spec"), &c.Spec)
		return f.List()
	}
	r.ValidateUpdate = func(c, old *resourcev1.ResourceClaim) field.ErrorList {
		var f check.Faults
		f.Same(field.NewPath("spec"), c.Spec, old.Spec)
		return f.List()
	}
	r.ValidateStatusUpdate = func(c, old *resourcev1.ResourceClaim) field.ErrorList {
		var f check.Faults
		p := field.NewPath("status")
		if old.Status.Allocation != nil && c.Status.Allocation != nil {
			f.Same(p.Child("allocation"), c.Status.Allocation, old.Status.Allocation)
		}
		if len(c.Status.ReservedFor) > 0 && c.Status.Allocation == nil {
			f.Forbidden(p.Child("reservedFor"), "may not be specified when `allocated` is not set")
		}
		if len(c.Status.ReservedFor) > resourcev1.ResourceClaimReservedForMaxSize {
			f.Add(field.TooMany(p.Child("reservedFor"), len(c.Status.ReservedFor), resourcev1.ResourceClaimReservedForMaxSize))
		}
		return f.List()
	}
	return r.Strategy()
}

var templateStrategy = resource.Rules[*resourcev1.ResourceClaimTemplate]{
	Default: func(t *resourcev1.ResourceClaimTemplate) { defaultClaim(&t.Spec.Spec) },
	Validate: func(t *resourcev1.ResourceClaimTemplate) field.ErrorList {
		var f check.Faults
		f.Labels(field.NewPath("spec", "metadata", "labels"), t.Spec.Labels)
		claim(&f, field.NewPath("spec", "spec"), &t.Spec.Spec)
		return f.List()
	},
	ValidateUpdate: func(t, old *resourcev1.ResourceClaimTemplate) field.ErrorList {
		var f check.Faults
		f.Same(field.NewPath("spec"), t.Spec, old.Spec)
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

func claim(f *check.Faults, p *field.Path, s *resourcev1.ResourceClaimSpec) {
	p = p.Child("devices", "requests")
	if len(s.Devices.Requests) > resourcev1.DeviceRequestsMaxSize {
		f.Add(field.TooMany(p, len(s.Devices.Requests), resourcev1.DeviceRequestsMaxSize))
	}
	names := map[string]bool{}
	for i := range s.Devices.Requests {
		r, at := &s.Devices.Requests[i], p.Index(i)
		named(f, at.Child("name"), r.Name, names)
		switch {
		case r.Exactly == nil && len(r.FirstAvailable) == 0:
			f.Required(at, "exactly one of `exactly` or `firstAvailable` is required")
		case r.Exactly != nil && len(r.FirstAvailable) > 0:
			f.Invalid(at, nil, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set")
		case r.Exactly != nil:
			device(f, at.Child("exactly"), r.Exactly.DeviceClassName, r.Exactly.AllocationMode, r.Exactly.Count)
		default:
			subs := map[string]bool{}
			for k := range r.FirstAvailable {
				sub := &r.FirstAvailable[k]
				named(f, at.Child("firstAvailable").Index(k).Child("name"), sub.Name, subs)
				device(f, at.Child("firstAvailable").Index(k), sub.DeviceClassName, sub.AllocationMode, sub.Count)
			}
		}
	}
}

func named(f *check.Faults, p *field.Path, name string, seen map[string]bool) {
	if name == "" {
		f.Required(p, "")
		return
	}
	f.Label(p, name)
	if seen[name] {
		f.Duplicate(p, name)
	}
	seen[name] = true
}

func device(f *check.Faults, p *field.Path, class string, mode resourcev1.DeviceAllocationMode, count int64) {
	if class == "" {
		f.Required(p.Child("deviceClassName"), "")
	} else {
		f.Subdomain(p.Child("deviceClassName"), class)
	}
	switch mode {
	case resourcev1.DeviceAllocationModeAll:
		if count != 0 {
			f.Invalid(p.Child("count"), count, "must not be specified when allocationMode is 'All'")
		}
	case resourcev1.DeviceAllocationModeExactCount:
		f.Positive(p.Child("count"), count)
	default:
		check.Known(f, p.Child("allocationMode"), mode, resourcev1.DeviceAllocationModeAll, resourcev1.DeviceAllocationModeExactCount)
	}
}

func defaultTolerations(list []resourcev1.DeviceToleration) {
	for i := range list {
		if list[i].Operator == "" {
			list[i].Operator = resourcev1.DeviceTolerationOpEqual
		}
	}
}
