package dynamicresources

import (
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/resource"
	"fairlead.dev/resource/check"
	"fairlead.dev/resource/podspec"
)

var classTable = resource.TableOf(func(c *resourcev1.DeviceClass) []any {
	return []any{c.Name, resource.AgeOf(c)}
}, resource.NameColumn, resource.AgeColumn)

var sliceTable = resource.TableOf(func(s *resourcev1.ResourceSlice) []any {
	return []any{s.Name, ptr.Deref(s.Spec.NodeName, ""), s.Spec.Driver, s.Spec.Pool.Name, resource.AgeOf(s)}
},
	resource.NameColumn,
	resource.Text("Node", "The node that has the devices."),
	resource.Text("Driver", "The driver of the devices."),
	resource.Text("Pool", "The pool the devices belong to."),
	resource.AgeColumn,
)

var taintTable = resource.TableOf(func(r *resourcev1.DeviceTaintRule) []any {
	t, added := &r.Spec.Taint, ""
	if t.TimeAdded != nil {
		added = resource.Since(*t.TimeAdded)
	}
	return []any{r.Name, t.Key, t.Value, string(t.Effect), added, resource.AgeOf(r)}
},
	resource.NameColumn,
	resource.Text("Key", "The taint's key."),
	resource.Text("Value", "The taint's value."),
	resource.Text("Effect", "What the taint does."),
	resource.Text("TimeAdded", "When the taint was added."),
	resource.AgeColumn,
)

func classStrategy() resource.Strategy {
	r := resource.Counted(func(c *resourcev1.DeviceClass) *resourcev1.DeviceClassSpec { return &c.Spec })
	r.Validate = validateClass
	r.ValidateUpdate = func(c, _ *resourcev1.DeviceClass) field.ErrorList { return validateClass(c) }
	return r.Strategy()
}

func validateClass(c *resourcev1.DeviceClass) field.ErrorList {
	var f check.Faults
	p := field.NewPath("spec", "selectors")
	if len(c.Spec.Selectors) > resourcev1.DeviceSelectorsMaxSize {
		f.Add(field.TooMany(p, len(c.Spec.Selectors), resourcev1.DeviceSelectorsMaxSize))
	}
	for i, s := range c.Spec.Selectors {
		if s.CEL == nil {
			f.Required(p.Index(i).Child("cel"), "")
		}
	}
	return f.List()
}

func sliceStrategy() resource.Strategy {
	r := resource.Counted(func(s *resourcev1.ResourceSlice) *resourcev1.ResourceSliceSpec { return &s.Spec })
	r.Default = func(s *resourcev1.ResourceSlice) {
		for i := range s.Spec.Devices {
			for k := range s.Spec.Devices[i].Taints {
				stamp(&s.Spec.Devices[i].Taints[k])
			}
		}
	}
	r.Validate = validateSlice
	r.ValidateUpdate = func(s, old *resourcev1.ResourceSlice) field.ErrorList {
		var f check.Faults
		f.Add(validateSlice(s)...)
		f.Same(field.NewPath("spec", "driver"), s.Spec.Driver, old.Spec.Driver)
		f.Same(field.NewPath("spec", "pool", "name"), s.Spec.Pool.Name, old.Spec.Pool.Name)
		f.Same(field.NewPath("spec", "nodeName"), s.Spec.NodeName, old.Spec.NodeName)
		return f.List()
	}
	return r.Strategy()
}

// stamp says when a taint was added, if the user has not.
func stamp(t *resourcev1.DeviceTaint) {
	if t.TimeAdded == nil {
		t.TimeAdded = &metav1.Time{Time: time.Now().Truncate(time.Second)}
	}
}

func validateSlice(s *resourcev1.ResourceSlice) field.ErrorList {
	var f check.Faults
	p, spec := field.NewPath("spec"), &s.Spec
	podspec.CSIDriverName(&f, p.Child("driver"), spec.Driver)
	pool := p.Child("pool")
	if spec.Pool.Name == "" {
		f.Required(pool.Child("name"), "")
	}
	if spec.Pool.ResourceSliceCount <= 0 {
		f.Invalid(pool.Child("resourceSliceCount"), spec.Pool.ResourceSliceCount, "must be greater than zero")
	}
	f.NotNegative(pool.Child("generation"), spec.Pool.Generation)
	n := 0
	if spec.NodeName != nil {
		n++
		f.Subdomain(p.Child("nodeName"), *spec.NodeName)
	}
	if spec.NodeSelector != nil {
		n++
		podspec.NodeSelector(&f, p.Child("nodeSelector"), spec.NodeSelector)
	}
	if ptr.Deref(spec.AllNodes, false) {
		n++
	}
	if ptr.Deref(spec.PerDeviceNodeSelection, false) {
		n++
	}
	const which = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	if n == 0 && len(spec.SharedCounters) == 0 {
		f.Required(p, which)
	} else if n > 1 {
		f.Invalid(p, nil, which+", but multiple fields are set")
	}
	if len(spec.Devices) > resourcev1.ResourceSliceMaxDevices {
		f.Add(field.TooMany(p.Child("devices"), len(spec.Devices), resourcev1.ResourceSliceMaxDevices))
	}
	seen := map[string]bool{}
	for i := range spec.Devices {
		named(&f, p.Child("devices").Index(i).Child("name"), spec.Devices[i].Name, seen)
	}
	return f.List()
}

func taintStrategy() resource.Strategy {
	r := resource.SplitCounted(func(r *resourcev1.DeviceTaintRule) (*resourcev1.DeviceTaintRuleSpec, *resourcev1.DeviceTaintRuleStatus) {
		return &r.Spec, &r.Status
	})
	keep := r.PrepareForStatusUpdate
	r.PrepareForStatusUpdate = func(r, old *resourcev1.DeviceTaintRule) {
		resource.KeepMeta(r, old)
		keep(r, old)
	}
	r.Default = func(r *resourcev1.DeviceTaintRule) { stamp(&r.Spec.Taint) }
	r.Validate = validateTaintRule
	r.ValidateUpdate = func(r, _ *resourcev1.DeviceTaintRule) field.ErrorList { return validateTaintRule(r) }
	return r.Strategy()
}

func validateTaintRule(r *resourcev1.DeviceTaintRule) field.ErrorList {
	var f check.Faults
	p, t := field.NewPath("spec", "taint"), &r.Spec.Taint
	f.LabelKey(p.Child("key"), t.Key)
	if t.Value != "" {
		f.Each(p.Child("value"), t.Value, validation.IsValidLabelValue(t.Value))
	}
	check.OneOf(&f, p.Child("effect"), t.Effect,
		resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNone)
	return f.List()
}
