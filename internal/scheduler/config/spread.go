package config

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/scheduler/plugins"
)

func (a *argsReader) readSpread(path *field.Path, raw []byte) field.ErrorList {
	var args spreadArgs
	if errs := parse(path, raw, &args, func() metav1.TypeMeta { return args.TypeMeta }, "PodTopologySpreadArgs"); errs != nil {
		return errs
	}
	var errs field.ErrorList
	switch at := path.Child("defaultingType"); args.DefaultingType {
	case "", "System":
		if len(args.DefaultConstraints) == 0 {
			return nil
		}
		if args.DefaultingType != "" {
			return field.ErrorList{field.Invalid(at, args.DefaultingType, "when .defaultConstraints are not empty")}
		}
		return field.ErrorList{field.Invalid(at, "System", "when .defaultConstraints are not empty")}
	case "List":
	default:
		return field.ErrorList{field.NotSupported(at, args.DefaultingType, []string{"System", "List"})}
	}
	for i, c := range args.DefaultConstraints {
		at := path.Child("defaultConstraints").Index(i)
		if c.MaxSkew <= 0 {
			errs = append(errs, field.Invalid(at.Child("maxSkew"), c.MaxSkew, "not in valid range (0, inf)"))
		}
		if c.TopologyKey == "" {
			errs = append(errs, field.Required(at.Child("topologyKey"), "can not be empty"))
		} else {
			errs = append(errs, metav1validation.ValidateLabelName(c.TopologyKey, at.Child("topologyKey"))...)
		}
		switch when := c.WhenUnsatisfiable; when {
		case corev1.DoNotSchedule, corev1.ScheduleAnyway:
		case "":
			errs = append(errs, field.Required(at.Child("whenUnsatisfiable"), "can not be empty"))
		default:
			errs = append(errs, field.NotSupported(at.Child("whenUnsatisfiable"), when, []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}))
		}
		if c.LabelSelector != nil {
			errs = append(errs, field.Forbidden(at.Child("labelSelector"), "constraint must not define a selector, as they deduced for each pod"))
		}
		if slices.ContainsFunc(args.DefaultConstraints[:i], func(o corev1.TopologySpreadConstraint) bool {
			return o.TopologyKey == c.TopologyKey && o.WhenUnsatisfiable == c.WhenUnsatisfiable
		}) {
			errs = append(errs, field.Duplicate(at, fmt.Sprintf("{%s, %s}", c.TopologyKey, c.WhenUnsatisfiable)))
		}
	}
	a.SpreadDefaults = &plugins.SpreadDefaults{Constraints: args.DefaultConstraints}
	return errs
}
