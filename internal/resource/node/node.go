// Package node describes runtime classes.
package node

import (
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.ClusterScoped[nodev1.RuntimeClass, nodev1.RuntimeClassList](nodev1.SchemeGroupVersion, "runtimeclasses").
			WithTable(classTable).WithStrategy(classStrategy),
	}
}

var classTable = resource.TableOf(func(c *nodev1.RuntimeClass) []any {
	return []any{c.Name, c.Handler, resource.AgeOf(c)}
}, resource.NameColumn, resource.Text("Handler", "What runs the class's pods."), resource.AgeColumn)

var classStrategy = resource.Rules[*nodev1.RuntimeClass]{
	Validate: validateClass,
	ValidateUpdate: func(c, old *nodev1.RuntimeClass) field.ErrorList {
		var f check.Errors
		f.Immutable(check.At("handler"), c.Handler, old.Handler)
		return f.List()
	},
	AllowCreateOnUpdate:    true,
	RequireResourceVersion: true,
}.Strategy()

func validateClass(c *nodev1.RuntimeClass) field.ErrorList {
	var f check.Errors
	if c.Handler == "" {
		f.Required(check.At("handler"), "")
	} else {
		f.Each(check.At("handler"), c.Handler, content.IsDNS1123Label(c.Handler))
	}
	if c.Overhead != nil {
		p := check.At("overhead", "limits")
		for _, name := range check.Names(c.Overhead.PodFixed) {
			f.ContainerResourceName(p.Key(string(name)), name)
			f.Amount(p.Key(string(name)), name, c.Overhead.PodFixed[name])
		}
	}
	if s := c.Scheduling; s != nil {
		p := check.At("scheduling")
		f.Labels(p.Child("nodeSelector"), s.NodeSelector)
		podspec.Tolerations(&f, p.Child("tolerations"), s.Tolerations)
		for i := range s.Tolerations {
			t := s.Tolerations[i]
			t.TolerationSeconds = nil
			for k := range i {
				o := s.Tolerations[k]
				if o.TolerationSeconds = nil; o == t {
					f.Duplicate(p.Child("tolerations").Index(i), s.Tolerations[i])
					break
				}
			}
		}
	}
	return f.List()
}
