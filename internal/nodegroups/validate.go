package nodegroups

import (
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/node/images"
	"fairlead.dev/node"
)

// maxInstances is the largest size of a group: the state of so many that are being created fits into an object.
const maxInstances = 5000

// complete reads the templates, and returns errors of fields.
func (f *File) complete() (errs field.ErrorList) {
	errs = append(errs, ruled(field.NewPath("gpuLabel"), f.GPULabel, validation.IsQualifiedName)...)
	groups := field.NewPath("groups")
	if len(f.Groups) == 0 {
		errs = append(errs, field.Required(groups, "a file has at least one"))
	}
	names := map[string]bool{}
	for i := range f.Groups {
		g, at := &f.Groups[i], groups.Index(i)
		if names[g.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), g.Name))
		}
		names[g.Name] = true
		errs = append(errs, g.complete(at)...)
	}
	return errs
}

func (g *Group) complete(at *field.Path) (errs field.ErrorList) {
	add := func(child string, value any, why string) {
		errs = append(errs, field.Invalid(at.Child(child), value, why))
	}
	errs = append(errs, ruled(at.Child("name"), g.Name, validation.IsDNS1123Label)...)
	if g.Min < 0 {
		add("min", g.Min, "must not be negative")
	}
	if g.Max < 1 || g.Max > maxInstances {
		add("max", g.Max, "must be from 1 to 5000")
	} else if g.Min > g.Max {
		add("min", g.Min, "must not be greater than max")
	}
	if g.PricePerHour < 0 || math.IsInf(g.PricePerHour, 0) {
		add("pricePerHour", g.PricePerHour, "must not be negative")
	}
	if g.Stock != nil && *g.Stock < 0 {
		add("stock", *g.Stock, "must not be negative")
	}
	for name, s := range map[string]*images.Span{"provisionTime": g.ProvisionTime, "registrationTime": g.RegistrationTime} {
		if s != nil && s.Forever {
			add(name, "forever", "must end")
		}
	}
	for i, zone := range g.Zones {
		errs = append(errs, ruled(at.Child("zones").Index(i), zone, validation.IsValidLabelValue)...)
	}
	for i, out := range g.StockOuts {
		if out.After.Duration < 0 {
			errs = append(errs, field.Invalid(at.Child("stockOuts").Index(i).Child("after"), out.After.Duration.String(), "must not be negative"))
		}
		if out.For.Duration <= 0 {
			errs = append(errs, field.Invalid(at.Child("stockOuts").Index(i).Child("for"), out.For.Duration.String(), "must be greater than 0"))
		}
	}
	errs = append(errs, g.checkFailures(at.Child("failures"))...)
	return append(errs, g.readTemplate(at.Child("template"))...)
}

func (g *Group) checkFailures(at *field.Path) (errs field.ErrorList) {
	sum := 0.0
	for i := range g.Failures {
		f, at := &g.Failures[i], at.Index(i)
		if f.Rate <= 0 || f.Rate > 1 {
			errs = append(errs, field.Invalid(at.Child("rate"), f.Rate, "must be greater than 0, and at most 1"))
		}
		sum += f.Rate
		if f.Code == "" {
			errs = append(errs, field.Required(at.Child("code"), "the provider's code of the error"))
		}
		switch f.Class {
		case "":
			f.Class = OutOfResources
		case OutOfResources, Other:
		default:
			errs = append(errs, field.NotSupported(at.Child("class"), f.Class, []Class{OutOfResources, Other}))
		}
	}
	if sum > 1 {
		errs = append(errs, field.Invalid(at, sum, "the sum of the rates must be at most 1"))
	}
	return errs
}

// readTemplate reads the Node of the template.
func (g *Group) readTemplate(at *field.Path) field.ErrorList {
	if len(g.Template) == 0 {
		return field.ErrorList{field.Required(at, "a Node, such as [{status: {capacity: {cpu: 4, memory: 8Gi}}}]")}
	}
	documents := make([][]byte, len(g.Template))
	for i, d := range g.Template {
		documents[i] = d
	}
	n, err := node.ParseTemplate(documents...)
	if err != nil {
		return field.ErrorList{field.Invalid(at, g.Name, err.Error())}
	}
	if zone := n.Labels[corev1.LabelTopologyZone]; zone != "" && len(g.Zones) > 0 {
		return field.ErrorList{field.Invalid(at, zone, "the label "+corev1.LabelTopologyZone+" excludes zones")}
	}
	g.node = n
	return nil
}

// ruled checks a text by a rule of Kubernetes.
func ruled(at *field.Path, value string, rule func(string) []string) field.ErrorList {
	if why := rule(value); len(why) > 0 {
		return field.ErrorList{field.Invalid(at, value, strings.Join(why, "; "))}
	}
	return nil
}
