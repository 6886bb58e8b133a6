package autoscaling

import (
	"errors"
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

// validateAutoscaler validates a new autoscaler, with a nil old, or a changed one, which may keep values that were
// accepted before.
func validateAutoscaler(h, old *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &h.Spec
	if s.MinReplicas != nil {
		f.NotNegative(p.Child("minReplicas"), int64(*s.MinReplicas))
	}
	at := p.Child("maxReplicas")
	switch {
	case s.MaxReplicas == 0:
		f.Required(at, "")
	case s.MaxReplicas < 0:
		f.Invalid(at, s.MaxReplicas, "must be greater than or equal to 1")
	}
	if s.MinReplicas != nil && s.MaxReplicas < *s.MinReplicas {
		f.Invalid(at, s.MaxReplicas, "must be greater than or equal to `minReplicas`")
	}
	scaleTarget(&f, p.Child("scaleTargetRef"), s.ScaleTargetRef, old)
	for i := range s.Metrics {
		metric(&f, p.Child("metrics").Index(i), &s.Metrics[i])
	}
	outside := func(m autoscalingv2.MetricSpec) bool {
		return m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
	}
	if s.MinReplicas != nil && *s.MinReplicas == 0 && !slices.ContainsFunc(s.Metrics, outside) {
		f.Forbidden(p.Child("metrics"), "must specify at least one Object or External metric to support scaling to zero replicas")
	}
	if s.Behavior != nil {
		rules(&f, p.Child("behavior", "scaleUp"), s.Behavior.ScaleUp)
		rules(&f, p.Child("behavior", "scaleDown"), s.Behavior.ScaleDown)
	}
	return f.List()
}

func validateAutoscalerStatus(h, _ *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	var f check.Errors
	f.NotNegative(check.At("status", "currentReplicas"), int64(h.Status.CurrentReplicas))
	f.NotNegative(check.At("status", "desiredReplicas"), int64(h.Status.DesiredReplicas))
	return f.List()
}

// segment requires a name that can stand in a URL.
func segment(f *check.Errors, p *check.Path, s, why string) {
	if s == "" {
		f.Required(p, why)
	} else {
		f.Each(p, s, content.IsPathSegmentName(s))
	}
}

// scaleTarget names its API group, unless it is the core's one scalable kind
// or was let in before.
func scaleTarget(f *check.Errors, p *check.Path, r autoscalingv2.CrossVersionObjectReference, old *autoscalingv2.HorizontalPodAutoscaler) {
	if old == nil || old.Spec.ScaleTargetRef.APIVersion != r.APIVersion || old.Spec.ScaleTargetRef.Kind != r.Kind {
		gv, err := schema.ParseGroupVersion(r.APIVersion)
		if err == nil && gv.Group == "" && r.Kind != "ReplicationController" {
			err = errors.New("apiVersion must specify API group")
		}
		apiVersion(f, p, r, err)
	}
	named(f, p, r)
}

func reference(f *check.Errors, p *check.Path, r autoscalingv2.CrossVersionObjectReference) {
	_, err := schema.ParseGroupVersion(r.APIVersion)
	apiVersion(f, p, r, err)
	named(f, p, r)
}

func apiVersion(f *check.Errors, p *check.Path, r autoscalingv2.CrossVersionObjectReference, err error) {
	if err != nil {
		f.Invalid(p.Child("apiVersion"), r.APIVersion, err.Error())
	}
}

func named(f *check.Errors, p *check.Path, r autoscalingv2.CrossVersionObjectReference) {
	segment(f, p.Child("kind"), r.Kind, "")
	segment(f, p.Child("name"), r.Name, "")
}

const maxWindow = 3600 // seconds that rules look back

func rules(f *check.Errors, p *check.Path, r *autoscalingv2.HPAScalingRules) {
	if r == nil {
		return
	}
	at := p.Child("stabilizationWindowSeconds")
	if s := r.StabilizationWindowSeconds; s != nil && *s < 0 {
		f.Invalid(at, s, "must be greater than or equal to zero")
	} else if s != nil && *s > maxWindow {
		f.Invalid(at, s, fmt.Sprintf("must be less than or equal to %d", maxWindow))
	}
	if r.SelectPolicy != nil {
		check.Known(f, p.Child("selectPolicy"), *r.SelectPolicy,
			autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect)
	}
	if len(r.Policies) == 0 {
		f.Required(p.Child("policies"), "must specify at least one Policy")
	}
	for i, policy := range r.Policies {
		at := p.Child("policies").Index(i)
		check.Known(f, at.Child("type"), policy.Type, autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy)
		if policy.Value <= 0 {
			f.Invalid(at.Child("value"), policy.Value, "must be greater than zero")
		}
		if policy.PeriodSeconds <= 0 {
			f.Invalid(at.Child("periodSeconds"), policy.PeriodSeconds, "must be greater than zero")
		}
		if policy.PeriodSeconds > maxWindow/2 {
			f.Invalid(at.Child("periodSeconds"), policy.PeriodSeconds, fmt.Sprintf("must be less than or equal to %d", maxWindow/2))
		}
	}
	if r.Tolerance != nil {
		f.QuantityNotNegative(p.Child("tolerance"), *r.Tolerance)
	}
}
