package dynamicresources

import (
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

func validateSlice(s, old *resourcev1.ResourceSlice) field.ErrorList {
	var f check.Errors
	p, spec := check.At("spec"), &s.Spec
	podspec.CSIDriverName(&f, p.Child("driver"), spec.Driver)
	pool := p.Child("pool")
	poolName(&f, pool.Child("name"), spec.Pool.Name)
	f.Positive(pool.Child("resourceSliceCount"), spec.Pool.ResourceSliceCount)
	if spec.Pool.Generation < 0 {
		f.Invalid(pool.Child("generation"), spec.Pool.Generation, "must be greater than or equal to zero")
	}
	was := map[string]*resourcev1.Device{}
	if old != nil {
		f.Same(pool.Child("name"), spec.Pool.Name, old.Spec.Pool.Name)
		f.Same(p.Child("driver"), spec.Driver, old.Spec.Driver)
		f.Same(p.Child("nodeName"), spec.NodeName, old.Spec.NodeName)
		for i := range old.Spec.Devices {
			was[old.Spec.Devices[i].Name] = &old.Spec.Devices[i]
		}
	}
	sliceNodes(&f, p, spec)
	if spec.SharedCounters != nil && spec.Devices != nil {
		f.Invalid(p, "", "only one of `sharedCounters` or `devices` is allowed")
	}
	limit := resourcev1.ResourceSliceMaxDevices
	if slices.ContainsFunc(spec.Devices, hasCostlyFeatures) {
		limit = resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures
	}
	validateKeyed(&f, p.Child("devices"), spec.Devices, limit, func(d *resourcev1.Device) string { return d.Name },
		func(p *check.Path, d *resourcev1.Device) {
			oneDevice(&f, p, d, was[d.Name], ptr.Deref(spec.PerDeviceNodeSelection, false))
		})
	if spec.PartitionTypeAttribute != nil {
		partitionTypes(&f, p, spec)
	}
	validateSet(&f, p.Child("sharedCounters"), spec.SharedCounters, resourcev1.ResourceSliceMaxCounterSets,
		func(c *resourcev1.CounterSet) string { return c.Name },
		func(p *check.Path, c *resourcev1.CounterSet) {
			counters(&f, p, "name", c.Name, c.Counters, resourcev1.ResourceSliceMaxCountersPerCounterSet)
		})
	return f.List()
}

// partitionTypes requires the attribute that names the type of a partition, as a string, of each device that consumes counters.
func partitionTypes(f *check.Errors, p *check.Path, s *resourcev1.ResourceSliceSpec) {
	name, at := string(*s.PartitionTypeAttribute), p.Child("partitionTypeAttribute")
	if !slices.ContainsFunc(s.Devices, consumesCounters) {
		f.Invalid(at, name, "may only be set on a slice which declares devices that consume counters")
	}
	var malformed check.Errors
	if wholeAttributeName(&malformed, at, name); len(malformed.List()) > 0 {
		f.Add(malformed.List()...)
		return // no device can carry it
	}
	for i, d := range s.Devices {
		if !consumesCounters(d) {
			continue
		}
		a, ok := d.Attributes[resourcev1.QualifiedName(name)]
		if bare, own := strings.CutPrefix(name, s.Driver+"/"); !ok && own {
			a, ok = d.Attributes[resourcev1.QualifiedName(bare)]
		}
		at := p.Child("devices").Index(i).Child("attributes").Key(name)
		switch {
		case !ok:
			f.Required(at, "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set")
		case a.StringValue == nil:
			f.Invalid(at, a, "must be a string value because `partitionTypeAttribute` names this attribute")
		}
	}
}

func consumesCounters(d resourcev1.Device) bool { return len(d.ConsumesCounters) > 0 }

// hasCostlyFeatures reports whether a device has features for which the limit of devices per slice is lower.
func hasCostlyFeatures(d resourcev1.Device) bool {
	if len(d.Taints) > 0 || len(d.ConsumesCounters) > 0 {
		return true
	}
	for _, a := range d.Attributes {
		if a.BoolValues != nil || a.IntValues != nil || a.StringValues != nil || a.VersionValues != nil {
			return true
		}
	}
	return false
}

// sliceNodes requires exactly one selection of the devices' nodes.
func sliceNodes(f *check.Errors, p *check.Path, s *resourcev1.ResourceSliceSpec) {
	var set []string
	if n := s.NodeName; n != nil && *n == "" {
		f.Invalid(p.Child("nodeName"), *n, "must be either unset or set to a non-empty string")
	} else if n != nil {
		set = append(set, "`nodeName`")
		f.Subdomain(p.Child("nodeName"), *n)
	}
	if n := s.NodeSelector; n != nil {
		set = append(set, "`nodeSelector`")
		podspec.NodeSelector(f, p.Child("nodeSelector"), n)
		if len(n.NodeSelectorTerms) != 1 {
			f.Invalid(p.Child("nodeSelector", "nodeSelectorTerms"), n.NodeSelectorTerms, "must have exactly one node selector term")
		}
	}
	set = requireTrueOrNil(f, p, set, "allNodes", s.AllNodes)
	set = requireTrueOrNil(f, p, set, "perDeviceNodeSelection", s.PerDeviceNodeSelection)
	const one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	if len(set) == 0 {
		f.Required(p, one)
	} else if len(set) > 1 {
		f.Invalid(p, "{"+strings.Join(set, ", ")+"}", one+", but multiple fields are set")
	}
}

// requireTrueOrNil requires true or nil, and adds the name if true.
func requireTrueOrNil(f *check.Errors, p *check.Path, set []string, name string, v *bool) []string {
	if v != nil && !*v {
		f.Invalid(p.Child(name), *v, "must be either unset or set to true")
	} else if v != nil {
		set = append(set, "`"+name+"`")
	}
	return set
}

func oneDevice(f *check.Errors, p *check.Path, d, old *resourcev1.Device, ownNodes bool) {
	f.Label(p.Child("name"), d.Name)
	attributes(f, p, d)
	multiple := ptr.Deref(d.AllowMultipleAllocations, false)
	for _, name := range slices.Sorted(maps.Keys(d.Capacity)) {
		at := p.Child("capacity")
		attributeName(f, at, string(name))
		capacity(f, at.Key(shorten(string(name), maxName)), d.Capacity[name], multiple)
	}
	if old == nil || !apiequality.Semantic.DeepEqual(old.Taints, d.Taints) {
		validateList(f, p.Child("taints"), d.Taints, resourcev1.DeviceTaintsMaxLength, func(p *check.Path, t *resourcev1.DeviceTaint) { taint(f, p, t, nil) })
	}
	validateSet(f, p.Child("consumesCounters"), d.ConsumesCounters, resourcev1.ResourceSliceMaxDeviceCounterConsumptionsPerDevice,
		func(c *resourcev1.DeviceCounterConsumption) string { return c.CounterSet },
		func(p *check.Path, c *resourcev1.DeviceCounterConsumption) {
			counters(f, p, "counterSet", c.CounterSet, c.Counters, resourcev1.ResourceSliceMaxCountersPerDeviceCounterConsumption)
		})
	deviceNodes(f, p, d, ownNodes)
	bindingConditions(f, p, d.BindingConditions, d.BindingFailureConditions)
}

// deviceNodes requires a device to select its nodes if the slice leaves that to the devices, and only then.
func deviceNodes(f *check.Errors, p *check.Path, d *resourcev1.Device, own bool) {
	if !own {
		if d.NodeName != nil || d.NodeSelector != nil || d.AllNodes != nil {
			f.Invalid(p, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec")
		}
		return
	}
	var set []string
	if n := d.NodeName; n != nil && *n == "" {
		f.Invalid(p.Child("nodeName"), *n, "must not be empty")
	} else if n != nil {
		set = append(set, "`nodeName`")
		f.Subdomain(p.Child("nodeName"), *n)
	}
	if d.NodeSelector != nil {
		set = append(set, "`nodeSelector`")
		podspec.NodeSelector(f, p.Child("nodeSelector"), d.NodeSelector)
	}
	set = requireTrueOrNil(f, p, set, "allNodes", d.AllNodes)
	const one = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	if len(set) == 0 {
		f.Required(p, one)
	} else if len(set) > 1 {
		f.Invalid(p, "{"+strings.Join(set, ", ")+"}", one)
	}
}

func counters(f *check.Errors, p *check.Path, key, name string, m map[string]resourcev1.Counter, limit int) {
	if name == "" {
		f.Required(p.Child(key), "")
	} else {
		f.Each(p.Child(key), name, content.IsDNS1123Label(name))
	}
	at := p.Child("counters")
	switch {
	case len(m) == 0:
		f.Required(at, "")
	case len(m) > limit:
		f.Add(field.TooMany(at.Field(), len(m), limit))
	default:
		for _, k := range slices.Sorted(maps.Keys(m)) {
			f.Each(at, k, content.IsDNS1123Label(k))
		}
	}
}

// bindingConditions are names of conditions, those of success and those of failure.
func bindingConditions(f *check.Errors, p *check.Path, good, bad []string) {
	look := func(name string, list []string, limit int) {
		at := p.Child(name)
		validateList(f, at, list, limit, func(p *check.Path, s *string) { f.Add(metavalidation.ValidateLabelName(*s, p.Field())...) })
		for i, c := range list {
			if slices.Contains(list[:i], c) {
				f.Duplicate(at.Index(i), c)
			}
		}
	}
	look("bindingConditions", good, resourcev1.BindingConditionsMaxSize)
	look("bindingFailureConditions", bad, resourcev1.BindingFailureConditionsMaxSize)
	for i, c := range bad {
		if slices.Contains(good, c) {
			f.Invalid(p.Child("bindingFailureConditions").Index(i), c, "bindingFailureConditions must not overlap with bindingConditions")
		}
	}
	if len(good) == 0 && len(bad) > 0 {
		f.Invalid(p.Child("bindingConditions"), good, "bindingConditions are required to use bindingFailureConditions")
	}
	if len(bad) == 0 && len(good) > 0 {
		f.Invalid(p.Child("bindingFailureConditions"), bad, "bindingFailureConditions are required to use bindingConditions")
	}
}
