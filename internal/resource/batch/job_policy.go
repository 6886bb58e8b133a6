package batch

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

const (
	maxRules      = 20
	maxExitCodes  = 255
	maxIndexesLen = 64 * 1024
)

func failurePolicy(f *check.Errors, p *check.Path, s *batchv1.JobSpec) {
	rules := s.PodFailurePolicy.Rules
	if len(rules) > maxRules {
		f.Add(field.TooMany(p.Field(), len(rules), maxRules))
	}
	actions := []batchv1.PodFailurePolicyAction{
		batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore,
	}
	for i := range rules {
		r, at := &rules[i], p.Index(i)
		switch {
		case r.Action == "":
			f.Required(at.Child("action"), fmt.Sprintf("valid values: %q", actions))
		case r.Action == batchv1.PodFailurePolicyActionFailIndex:
			if s.BackoffLimitPerIndex == nil {
				f.Invalid(at.Child("action"), r.Action, "requires the backoffLimitPerIndex to be set")
			}
		default:
			check.Known(f, at.Child("action"), r.Action, actions...)
		}
		if r.OnExitCodes != nil {
			exitCodes(f, at.Child("onExitCodes"), r.OnExitCodes, &s.Template.Spec)
		}
		podConditions(f, at.Child("onPodConditions"), r.OnPodConditions)
		switch codes, conditions := r.OnExitCodes != nil, len(r.OnPodConditions) > 0; {
		case codes && conditions:
			f.Invalid(at, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported")
		case !codes && !conditions:
			f.Invalid(at, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required")
		}
	}
}

func podConditions(f *check.Errors, p *check.Path, list []batchv1.PodFailurePolicyOnPodConditionsPattern) {
	if len(list) > maxRules {
		f.Add(field.TooMany(p.Field(), len(list), maxRules))
	}
	statuses := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
	for i, c := range list {
		at := p.Index(i)
		f.Qualified(at.Child("type"), string(c.Type))
		if c.Status == "" {
			f.Required(at.Child("status"), fmt.Sprintf("valid values: %q", statuses))
		} else {
			check.Known(f, at.Child("status"), c.Status, statuses...)
		}
	}
}

func exitCodes(f *check.Errors, p *check.Path, r *batchv1.PodFailurePolicyOnExitCodesRequirement, spec *corev1.PodSpec) {
	operators := []batchv1.PodFailurePolicyOnExitCodesOperator{batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn}
	if r.Operator == "" {
		f.Required(p.Child("operator"), fmt.Sprintf("valid values: %q", operators))
	} else {
		check.Known(f, p.Child("operator"), r.Operator, operators...)
	}
	if r.ContainerName != nil {
		named := func(c corev1.Container) bool { return c.Name == *r.ContainerName }
		if !slices.ContainsFunc(spec.Containers, named) && !slices.ContainsFunc(spec.InitContainers, named) {
			f.Invalid(p.Child("containerName"), *r.ContainerName, "must be one of the container or initContainer names in the pod template")
		}
	}
	values := p.Child("values")
	if len(r.Values) == 0 {
		f.Invalid(values, r.Values, "at least one value is required")
	} else if len(r.Values) > maxExitCodes {
		f.Add(field.TooMany(values.Field(), len(r.Values), maxExitCodes))
	}
	seen := map[int32]bool{}
	for i, v := range r.Values {
		if r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && v == 0 {
			f.Invalid(values.Index(i), v, "must not be 0 for the In operator")
		}
		if seen[v] {
			f.Duplicate(values.Index(i), v)
		}
		seen[v] = true
	}
	if !slices.IsSorted(r.Values) {
		f.Invalid(values, r.Values, "must be ordered")
	}
}

func successPolicy(f *check.Errors, p *check.Path, s *batchv1.JobSpec) {
	rules := s.SuccessPolicy.Rules
	if len(rules) == 0 {
		f.Required(p, "at least one rules must be specified when the successPolicy is specified")
	}
	if len(rules) > maxRules {
		f.Add(field.TooMany(p.Field(), len(rules), maxRules))
	}
	for i, r := range rules {
		at := p.Index(i)
		if r.SucceededCount == nil && r.SucceededIndexes == nil {
			f.Required(at, "at least one of succeededCount or succeededIndexes must be specified")
		}
		var total int32
		if r.SucceededIndexes != nil {
			if len(*r.SucceededIndexes) > maxIndexesLen {
				f.Add(field.TooLong(at.Child("succeededIndexes").Field(), "", maxIndexesLen))
			}
			var err error
			if total, err = countIndexes(*r.SucceededIndexes, *s.Completions); err != nil {
				f.Invalid(at.Child("succeededIndexes"), *r.SucceededIndexes, fmt.Sprintf("error parsing succeededIndexes: %v", err))
			}
		}
		if n := r.SucceededCount; n != nil {
			at := at.Child("succeededCount")
			f.NotNegative(at, int64(*n))
			if *n > *s.Completions {
				f.Invalid(at, *n, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", *s.Completions))
			}
			if r.SucceededIndexes != nil && *n > total {
				f.Invalid(at, *n, fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total))
			}
		}
	}
}
