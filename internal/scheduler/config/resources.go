package config

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/plugins"
)

func (a *argsReader) readFit(path *field.Path, raw []byte) field.ErrorList {
	var args fitArgs
	if errs := parse(path, raw, &args, func() metav1.TypeMeta { return args.TypeMeta }, "NodeResourcesFitArgs"); errs != nil {
		return errs
	}
	var errs field.ErrorList
	for i, name := range args.IgnoredResources {
		errs = append(errs, metav1validation.ValidateLabelName(name, path.Child("ignoredResources").Index(i))...)
	}
	for i, group := range args.IgnoredResourceGroups {
		at := path.Child("ignoredResourceGroups").Index(i)
		if strings.Contains(group, "/") {
			errs = append(errs, field.Invalid(at, group, "resource group name can't contain '/'"))
		}
		errs = append(errs, metav1validation.ValidateLabelName(group, at)...)
	}
	if len(args.IgnoredResources)+len(args.IgnoredResourceGroups) > 0 {
		a.IgnoredResources = &plugins.IgnoredResources{Names: args.IgnoredResources, Groups: args.IgnoredResourceGroups}
	}
	s := args.ScoringStrategy
	if s == nil {
		return errs
	}
	at := path.Child("scoringStrategy")
	if len(s.Resources) > 0 {
		a.Allocation.Resources = nil
	}
	for i, r := range s.Resources {
		if r.Weight == 0 {
			r.Weight = 1
		}
		if r.Weight < 0 || r.Weight > 100 {
			errs = append(errs, field.Invalid(at.Child("resources").Index(i).Child("weight"), r.Weight, fmt.Sprintf("resource weight of %s not in valid range (0, 100]", r.Name)))
		}
		a.Allocation.Resources = append(a.Allocation.Resources, plugins.WeightedResource{Name: corev1.ResourceName(r.Name), Weight: r.Weight})
	}
	names := []string{"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"}
	kind := slices.Index(names, s.Type)
	if s.Type == "" {
		kind = 0
	}
	if kind < 0 {
		return append(errs, field.NotSupported(at.Child("type"), s.Type, names))
	}
	a.Allocation.Strategy = plugins.ScoringStrategy(kind)
	ratio := at.Child("requestedToCapacityRatio")
	switch {
	case a.Allocation.Strategy != plugins.RequestedToCapacityRatio && s.RequestedToCapacityRatio != nil:
		errs = append(errs, field.Forbidden(ratio, "must be nil when type is not RequestedToCapacityRatio"))
	case a.Allocation.Strategy == plugins.RequestedToCapacityRatio && s.RequestedToCapacityRatio == nil:
		errs = append(errs, field.Required(ratio, "must be specified when type is RequestedToCapacityRatio"))
	case a.Allocation.Strategy == plugins.RequestedToCapacityRatio:
		shape, wrong := readShape(ratio.Child("shape"), s.RequestedToCapacityRatio.Shape)
		a.Allocation.Shape, errs = shape, append(errs, wrong...)
	}
	return errs
}

func (a *argsReader) readBalanced(path *field.Path, raw []byte) field.ErrorList {
	var args balancedArgs
	if errs := parse(path, raw, &args, func() metav1.TypeMeta { return args.TypeMeta }, "NodeResourcesBalancedAllocationArgs"); errs != nil {
		return errs
	}
	if len(args.Resources) == 0 {
		return nil
	}
	var errs field.ErrorList
	a.Balanced = nil
	for i, r := range args.Resources {
		at := path.Child("resources").Index(i)
		name := corev1.ResourceName(r.Name)
		if slices.ContainsFunc(a.Balanced, func(w plugins.WeightedResource) bool { return w.Name == name }) {
			errs = append(errs, field.Duplicate(at.Child("name"), r.Name))
		}
		if r.Weight != 0 && r.Weight != 1 {
			errs = append(errs, field.Invalid(at.Child("weight"), r.Weight, "must be 1"))
		}
		a.Balanced = append(a.Balanced, plugins.WeightedResource{Name: name, Weight: 1})
	}
	return errs
}

// readShape reads the curve of a score. Its scores are 0 to 10, as in kube-scheduler's configuration.
func readShape(path *field.Path, points []shapePoint) (shape framework.Shape, errs field.ErrorList) {
	if len(points) == 0 {
		errs = append(errs, field.Required(path, "at least one point must be specified"))
	}
	for i, p := range points {
		at := path.Index(i)
		if i > 0 && points[i-1].Utilization >= p.Utilization {
			errs = append(errs, field.Invalid(at.Child("utilization"), p.Utilization, "values must be sorted in increasing order"))
		}
		if p.Utilization < 0 || p.Utilization > 100 {
			errs = append(errs, field.Invalid(at.Child("utilization"), p.Utilization, "not in valid range [0, 100]"))
		}
		if p.Score < 0 || p.Score > 10 {
			errs = append(errs, field.Invalid(at.Child("score"), p.Score, "not in valid range [0, 10]"))
		}
		shape = append(shape, framework.ShapePoint{Utilization: int64(p.Utilization), Score: 10 * int64(p.Score)})
	}
	return shape, errs
}
