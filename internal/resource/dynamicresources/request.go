package dynamicresources

import (
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/internal/resource/check"
)

// requests are the names of a claim's requests, each with those of its alternatives.
type requests map[string]map[string]bool

func requestsOf(d *resourcev1.DeviceClaim) requests {
	out := requests{}
	for i := range d.Requests {
		r := &d.Requests[i]
		out[r.Name] = nil
		for k := range r.FirstAvailable {
			if out[r.Name] == nil {
				out[r.Name] = map[string]bool{}
			}
			out[r.Name][r.FirstAvailable[k].Name] = true
		}
	}
	return out
}

// reference requires "request" or "request/alternative".
func (r requests) reference(f *check.Errors, p *check.Path, name string) {
	const why = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	parts := strings.Split(name, "/")
	if len(parts) > 2 {
		f.Invalid(p, name, why)
		return
	}
	for _, part := range parts {
		f.Label(p, part)
	}
	if subs, ok := r[parts[0]]; !ok || len(parts) == 2 && !subs[parts[1]] {
		f.Invalid(p, name, why)
	}
}

func (r requests) references(f *check.Errors, p *check.Path, names []string) {
	validateSet(f, p, names, resourcev1.DeviceRequestsMaxSize, identity, func(p *check.Path, s *string) { r.reference(f, p, *s) })
}

func claim(f *check.Errors, p *check.Path, s *resourcev1.ResourceClaimSpec) {
	p = p.Child("devices")
	d, names := &s.Devices, requestsOf(&s.Devices)
	validateSet(f, p.Child("requests"), d.Requests, resourcev1.DeviceRequestsMaxSize,
		func(r *resourcev1.DeviceRequest) string { return r.Name },
		func(p *check.Path, r *resourcev1.DeviceRequest) { request(f, p, r) })
	validateList(f, p.Child("constraints"), d.Constraints, resourcev1.DeviceConstraintsMaxSize, func(p *check.Path, c *resourcev1.DeviceConstraint) {
		names.references(f, p.Child("requests"), c.Requests)
		if c.MatchAttribute != nil {
			wholeAttributeName(f, p.Child("matchAttribute"), string(*c.MatchAttribute))
		}
		if c.DistinctAttribute != nil {
			wholeAttributeName(f, p.Child("distinctAttribute"), string(*c.DistinctAttribute))
		}
		if c.MatchAttribute == nil && c.DistinctAttribute == nil {
			f.Required(p, `exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`)
		}
	})
	validateList(f, p.Child("config"), d.Config, resourcev1.DeviceConfigMaxSize, func(p *check.Path, c *resourcev1.DeviceClaimConfiguration) {
		names.references(f, p.Child("requests"), c.Requests)
		configuration(f, p, &c.DeviceConfiguration)
	})
}

func request(f *check.Errors, p *check.Path, r *resourcev1.DeviceRequest) {
	f.Label(p.Child("name"), r.Name)
	const one = "exactly one of `exactly` or `firstAvailable` is required"
	switch {
	case r.Exactly == nil && len(r.FirstAvailable) == 0:
		f.Required(p, one)
	case r.Exactly != nil && len(r.FirstAvailable) > 0:
		f.Invalid(p, nil, one+", but multiple fields are set")
		for i, s := range r.FirstAvailable {
			at := p.Child("firstAvailable").Index(i)
			className(f, at.Child("deviceClassName"), s.DeviceClassName)
			check.Known(f, at.Child("allocationMode"), s.AllocationMode, resourcev1.DeviceAllocationModeAll, resourcev1.DeviceAllocationModeExactCount)
		}
	case r.Exactly != nil:
		e := r.Exactly
		device(f, p.Child("exactly"), e.DeviceClassName, e.Selectors, e.AllocationMode, e.Count, e.Tolerations)
	default:
		validateSet(f, p.Child("firstAvailable"), r.FirstAvailable, resourcev1.FirstAvailableDeviceRequestMaxSize,
			func(s *resourcev1.DeviceSubRequest) string { return s.Name },
			func(p *check.Path, s *resourcev1.DeviceSubRequest) {
				f.Label(p.Child("name"), s.Name)
				device(f, p, s.DeviceClassName, s.Selectors, s.AllocationMode, s.Count, s.Tolerations)
			})
	}
}

func className(f *check.Errors, p *check.Path, class string) {
	if class == "" {
		f.Required(p, "")
	} else {
		f.Subdomain(p, class)
	}
}

func device(f *check.Errors, p *check.Path, class string, chosen []resourcev1.DeviceSelector, mode resourcev1.DeviceAllocationMode, count int64, tolerations []resourcev1.DeviceToleration) {
	className(f, p.Child("deviceClassName"), class)
	selectors(f, p.Child("selectors"), chosen, false)
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
	for i := range tolerations {
		toleration(f, p.Child("tolerations").Index(i), &tolerations[i])
	}
}

func toleration(f *check.Errors, p *check.Path, t *resourcev1.DeviceToleration) {
	if t.Key != "" {
		f.Add(metavalidation.ValidateLabelName(t.Key, p.Child("key").Field())...)
	}
	switch t.Operator {
	case resourcev1.DeviceTolerationOpExists:
		if t.Value != "" {
			f.Invalid(p.Child("value"), t.Value, "must be empty for operator `Exists`")
		}
	case resourcev1.DeviceTolerationOpEqual:
		f.Each(p.Child("value"), t.Value, validation.IsValidLabelValue(t.Value))
	default:
		check.OneOf(f, p.Child("operator"), t.Operator, resourcev1.DeviceTolerationOpEqual, resourcev1.DeviceTolerationOpExists)
	}
	if t.Effect != "" {
		check.Known(f, p.Child("effect"), t.Effect,
			resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNone)
	}
}

// configuration requires parameters for a driver.
func configuration(f *check.Errors, p *check.Path, c *resourcev1.DeviceConfiguration) {
	p = p.Child("opaque")
	if c.Opaque == nil {
		f.Required(p, "")
		return
	}
	driver(f, p.Child("driver"), c.Opaque.Driver)
	jsonObject(f, p.Child("parameters"), c.Opaque.Parameters, resourcev1.OpaqueParametersMaxLength)
}
