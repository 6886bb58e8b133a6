package dynamicresources

import (
	"context"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
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
	r := resource.SpecOnly(func(c *resourcev1.DeviceClass) *resourcev1.DeviceClassSpec { return &c.Spec })
	r.Validate = func(c *resourcev1.DeviceClass) field.ErrorList { return validateClass(c, nil) }
	r.ValidateUpdate = validateClass
	return r.Strategy()
}

func validateClass(c, old *resourcev1.DeviceClass) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &c.Spec
	stored := old != nil && apiequality.Semantic.DeepEqual(s.Selectors, old.Spec.Selectors)
	selectors(&f, p.Child("selectors"), s.Selectors, stored)
	validateList(&f, p.Child("config"), s.Config, resourcev1.DeviceConfigMaxSize, func(p *check.Path, c *resourcev1.DeviceClassConfiguration) {
		configuration(&f, p, &c.DeviceConfiguration)
	})
	at := p.Child("extendedResourceName").Field()
	f.Add(validate.ExtendedResourceName(context.Background(), operation.Operation{}, at, s.ExtendedResourceName, nil)...)
	return f.List()
}

func sliceStrategy() resource.Strategy {
	r := resource.SpecOnly(func(s *resourcev1.ResourceSlice) *resourcev1.ResourceSliceSpec { return &s.Spec })
	r.Default = func(s *resourcev1.ResourceSlice) {
		for i := range s.Spec.Devices {
			for k := range s.Spec.Devices[i].Taints {
				setTimeAdded(&s.Spec.Devices[i].Taints[k])
			}
		}
	}
	r.Validate = func(s *resourcev1.ResourceSlice) field.ErrorList { return validateSlice(s, nil) }
	r.ValidateUpdate = validateSlice
	return r.Strategy()
}

// setTimeAdded sets the time at which a taint was added, unless the user has set it.
func setTimeAdded(t *resourcev1.DeviceTaint) {
	if t.TimeAdded == nil {
		t.TimeAdded = &metav1.Time{Time: time.Now().Truncate(time.Second)}
	}
}

func taintStrategy() resource.Strategy {
	r := resource.SplitCounted(func(r *resourcev1.DeviceTaintRule) (*resourcev1.DeviceTaintRuleSpec, *resourcev1.DeviceTaintRuleStatus) {
		return &r.Spec, &r.Status
	}).KeepMeta()
	r.Default = func(r *resourcev1.DeviceTaintRule) { setTimeAdded(&r.Spec.Taint) }
	update := r.PrepareForUpdate
	r.PrepareForUpdate = func(r, old *resourcev1.DeviceTaintRule) {
		// Tolerations count from the time at which the taint got its effect.
		if now, was := &r.Spec.Taint, &old.Spec.Taint; now.Effect != was.Effect && now.TimeAdded.Equal(was.TimeAdded) {
			now.TimeAdded = nil
			setTimeAdded(now)
		}
		update(r, old)
	}
	r.Validate = func(r *resourcev1.DeviceTaintRule) field.ErrorList { return validateTaintRule(r, nil) }
	r.ValidateUpdate = validateTaintRule
	r.ValidateStatusUpdate = validateTaintRuleStatus
	return r.Strategy()
}

func validateTaintRule(r, old *resourcev1.DeviceTaintRule) field.ErrorList {
	var f check.Errors
	p := check.At("spec")
	if s := r.Spec.DeviceSelector; s != nil {
		at := p.Child("deviceSelector")
		if s.Driver != nil {
			podspec.CSIDriverName(&f, at.Child("driver"), *s.Driver)
		}
		if s.Pool != nil {
			poolName(&f, at.Child("pool"), *s.Pool)
		}
		if s.Device != nil {
			f.Label(at.Child("device"), *s.Device)
		}
	}
	var was *resourcev1.DeviceTaint
	if old != nil {
		was = &old.Spec.Taint
	}
	taint(&f, p.Child("taint"), &r.Spec.Taint, was)
	return f.List()
}

func validateTaintRuleStatus(r, _ *resourcev1.DeviceTaintRule) field.ErrorList {
	var f check.Errors
	p := check.At("status", "conditions")
	f.Add(metavalidation.ValidateConditions(r.Status.Conditions, p.Field())...)
	if len(r.Status.Conditions) > resourcev1.DeviceTaintRuleStatusMaxConditions {
		f.Add(field.TooMany(p.Field(), len(r.Status.Conditions), resourcev1.DeviceTaintRuleStatusMaxConditions))
	}
	return f.List()
}

// taint requires a key, a value that can be a label's, and one of the effects, unless
// that is as it was.
func taint(f *check.Errors, p *check.Path, t, old *resourcev1.DeviceTaint) {
	f.LabelKey(p.Child("key"), t.Key)
	if t.Value != "" {
		f.Each(p.Child("value"), t.Value, validation.IsValidLabelValue(t.Value))
	}
	if old == nil || old.Effect != t.Effect {
		check.OneOf(f, p.Child("effect"), t.Effect,
			resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNone)
	}
}
