package core

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var configMapTable = resource.TableOf(func(c *corev1.ConfigMap) []any {
	return []any{c.Name, int64(len(c.Data) + len(c.BinaryData)), resource.AgeOf(c)}
}, resource.NameColumn, resource.Text("Data", "How many keys the map has."), resource.AgeColumn)

var configMapStrategy = resource.Rules[*corev1.ConfigMap]{
	Default: func(c *corev1.ConfigMap) {
		if c.Data == nil {
			c.Data = map[string]string{}
		}
	},
	Validate: validateConfigMap,
	ValidateUpdate: func(c, old *corev1.ConfigMap) field.ErrorList {
		var f check.Errors
		if old.Immutable != nil && *old.Immutable {
			requireUnchanged(&f, "immutable", c.Immutable == nil || !*c.Immutable)
			requireUnchanged(&f, "data", !reflect.DeepEqual(c.Data, old.Data))
			requireUnchanged(&f, "binaryData", !reflect.DeepEqual(c.BinaryData, old.BinaryData))
		}
		f.Add(validateConfigMap(c)...)
		return f.List()
	},
}.Strategy()

func validateConfigMap(c *corev1.ConfigMap) field.ErrorList {
	var f check.Errors
	size := 0
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		p := check.At("data").Key(key)
		f.Each(p, key, validation.IsConfigMapKey(key))
		if _, twice := c.BinaryData[key]; twice {
			f.Invalid(p, key, "duplicate of key present in binaryData")
		}
		size += len(c.Data[key])
	}
	for _, key := range slices.Sorted(maps.Keys(c.BinaryData)) {
		f.Each(check.At("binaryData").Key(key), key, validation.IsConfigMapKey(key))
		size += len(c.BinaryData[key])
	}
	if size > corev1.MaxSecretSize {
		f.Add(field.TooLong(check.At("").Field(), "", corev1.MaxSecretSize))
	}
	return f.List()
}
