package storage

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var classTable = resource.TableOf(func(c *storagev1.StorageClass) []any {
	name := c.Name
	if isDefault(c) {
		name += " (default)"
	}
	return []any{
		name, c.Provisioner,
		string(ptr.Deref(c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)),
		string(ptr.Deref(c.VolumeBindingMode, storagev1.VolumeBindingImmediate)),
		ptr.Deref(c.AllowVolumeExpansion, false), resource.AgeOf(c),
	}
},
	resource.NameColumn,
	resource.Text("Provisioner", "Who makes volumes of the class."),
	resource.Text("ReclaimPolicy", "What becomes of a volume when its claim is gone."),
	resource.Text("VolumeBindingMode", "When claims get their volumes."),
	resource.Text("AllowVolumeExpansion", "Whether volumes can grow."),
	resource.AgeColumn,
)

func isDefault(c metav1.Object) bool {
	a := c.GetAnnotations()
	return a["storageclass.kubernetes.io/is-default-class"] == "true" || a["storageclass.beta.kubernetes.io/is-default-class"] == "true"
}

var classStrategy = resource.Rules[*storagev1.StorageClass]{
	Default: func(c *storagev1.StorageClass) {
		resource.SetDefault(&c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
		resource.SetDefault(&c.VolumeBindingMode, storagev1.VolumeBindingImmediate)
	},
	Validate: validateClass,
	ValidateUpdate: func(c, old *storagev1.StorageClass) field.ErrorList {
		var f check.Errors
		f.Immutable(check.At("parameters"), c.Parameters, old.Parameters)
		f.Immutable(check.At("provisioner"), c.Provisioner, old.Provisioner)
		f.Immutable(check.At("reclaimPolicy"), c.ReclaimPolicy, old.ReclaimPolicy)
		f.Immutable(check.At("volumeBindingMode"), c.VolumeBindingMode, old.VolumeBindingMode)
		f.Add(validateClass(c)...)
		return f.List()
	},
}.Strategy()

func validateClass(c *storagev1.StorageClass) field.ErrorList {
	var f check.Errors
	provisioner(&f, check.At("provisioner"), c.Provisioner)
	parameters(&f, check.At("parameters"), c.Parameters)
	if r := c.ReclaimPolicy; r != nil && *r != "" {
		check.Known(&f, check.At("reclaimPolicy"), *r, corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain)
	}
	if m := c.VolumeBindingMode; m == nil {
		f.Required(check.At("volumeBindingMode"), "")
	} else {
		check.Known(&f, check.At("volumeBindingMode"), *m, storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer)
	}
	topologies(&f, check.At("allowedTopologies"), c.AllowedTopologies)
	return f.List()
}

func provisioner(f *check.Errors, p *check.Path, name string) {
	if name == "" {
		f.Required(p, "")
	} else {
		f.Qualified(p, strings.ToLower(name))
	}
}

func parameters(f *check.Errors, p *check.Path, params map[string]string) {
	const maxParameters, maxSize = 512, 256 * 1024
	size := 0
	if len(params) > maxParameters {
		f.Add(field.TooLong(p.Field(), "", maxParameters))
	}
	for key, value := range params {
		if key == "" {
			f.Invalid(p, key, "field can not be empty.")
		}
		size += len(key) + len(value)
	}
	if size > maxSize {
		f.Add(field.TooLong(p.Field(), "", maxSize))
	}
}

func valuesByKey(t corev1.TopologySelectorTerm) map[string]sets.Set[string] {
	values := map[string]sets.Set[string]{}
	for _, r := range t.MatchLabelExpressions {
		values[r.Key] = sets.New(r.Values...)
	}
	return values
}

func topologies(f *check.Errors, p *check.Path, terms []corev1.TopologySelectorTerm) {
	for i, t := range terms {
		at := p.Index(i).Child("matchLabelExpressions")
		keys := map[string]bool{}
		for k, r := range t.MatchLabelExpressions {
			at := at.Index(k)
			if len(r.Values) == 0 {
				f.Required(at.Child("values"), "")
			}
			seen := map[string]bool{}
			for v, value := range r.Values {
				if seen[value] {
					f.Duplicate(at.Child("values").Index(v), value)
				}
				seen[value] = true
			}
			f.LabelKey(at.Child("key"), r.Key)
			if keys[r.Key] {
				f.Duplicate(at.Child("key"), r.Key)
			}
			keys[r.Key] = true
		}
		same := func(other corev1.TopologySelectorTerm) bool {
			return maps.EqualFunc(valuesByKey(other), valuesByKey(t), sets.Set[string].Equal)
		}
		// An empty term is as bad as one said twice.
		if len(t.MatchLabelExpressions) == 0 || slices.ContainsFunc(terms[:i], same) {
			f.Duplicate(at, "")
		}
	}
}

var attributesTable = resource.TableOf(func(c *storagev1.VolumeAttributesClass) []any {
	return []any{c.Name, c.DriverName, resource.AgeOf(c)}
}, resource.NameColumn, resource.Text("DriverName", "The driver that knows the attributes."), resource.AgeColumn)

var attributesStrategy = resource.Rules[*storagev1.VolumeAttributesClass]{
	Validate: validateAttributes,
	ValidateUpdate: func(c, old *storagev1.VolumeAttributesClass) field.ErrorList {
		var f check.Errors
		if c.DriverName != old.DriverName {
			f.Forbidden(check.At("driverName"), "updates to driverName are forbidden.")
		}
		if !reflect.DeepEqual(c.Parameters, old.Parameters) {
			f.Forbidden(check.At("parameters"), "updates to parameters are forbidden.")
		}
		f.Add(validateAttributes(c)...)
		return f.List()
	},
}.Strategy()

func validateAttributes(c *storagev1.VolumeAttributesClass) field.ErrorList {
	var f check.Errors
	provisioner(&f, check.At("driverName"), c.DriverName)
	parameters(&f, check.At("parameters"), c.Parameters)
	if len(c.Parameters) == 0 {
		f.Required(check.At("parameters"), "must contain at least one key/value pair")
	}
	return f.List()
}
