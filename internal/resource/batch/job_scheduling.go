package batch

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource/check"
)

// maxClaims is how many claims for devices the pods of a job may share.
const maxClaims = 4

// gang reports the faults of a job's gang that its other fields reveal.
func gang(f *check.Errors, p *check.Path, s *batchv1.JobSpec) {
	if s.Scheduling == nil {
		return
	}
	policy := s.Scheduling.SchedulingPolicy
	if policy != nil && policy.Gang != nil && policy.Gang.MinCount != nil {
		if n, most := *policy.Gang.MinCount, ptr.Deref(s.Parallelism, 1); n > most {
			f.Invalid(p.Child("schedulingPolicy", "gang", "minCount"), n, fmt.Sprintf("must not be greater than parallelism (%d)", most))
		}
	}
	basic := policy == nil || policy.Basic != nil || policy.Gang == nil
	if mode := s.Scheduling.DisruptionMode; basic && mode != nil && mode.Single == nil && mode.All != nil {
		f.Invalid(p.Child("disruptionMode"), "", "the disruptionMode `all` is not supported with the Basic scheduling policy")
	}
}

// samePolicy requires that a gang remains one.
func samePolicy(f *check.Errors, p *check.Path, now, old *batchv1.JobSchedulingConfiguration) {
	if now == nil || old == nil || now.SchedulingPolicy == nil || old.SchedulingPolicy == nil {
		return
	}
	if (now.SchedulingPolicy.Basic != nil) != (old.SchedulingPolicy.Basic != nil) {
		f.Invalid(p.Child("schedulingPolicy"), nil,
			"the basic/gang policy variant is immutable after creation; only schedulingPolicy.gang.minCount may be updated")
	}
}

// scheduling checks the configuration of a new job by the tags of k8s.io/api.
func scheduling(f *check.Errors, p *check.Path, c *batchv1.JobSchedulingConfiguration) {
	if c == nil {
		return
	}
	ctx, create := context.Background(), operation.Operation{Type: operation.Create}
	if c.SchedulingPolicy != nil {
		f.Add(schedulingv1alpha3.Validate_WorkloadPodGroupSchedulingPolicy(ctx, create, p.Child("schedulingPolicy").Field(), c.SchedulingPolicy, nil)...)
	}
	if c.SchedulingConstraints != nil {
		f.Add(schedulingv1alpha3.Validate_WorkloadPodGroupSchedulingConstraints(ctx, create, p.Child("schedulingConstraints").Field(), c.SchedulingConstraints, nil)...)
	}
	if c.DisruptionMode != nil {
		f.Add(schedulingv1alpha3.Validate_WorkloadPodGroupDisruptionMode(ctx, create, p.Child("disruptionMode").Field(), c.DisruptionMode, nil)...)
	}
	claims := p.Child("resourceClaims")
	if !fewClaims(f, claims, c) {
		return
	}
	seen := map[string]bool{}
	for i := range c.ResourceClaims {
		if name := c.ResourceClaims[i].Name; seen[name] {
			f.Duplicate(claims.Index(i), c.ResourceClaims[i])
		} else {
			seen[name] = true
		}
	}
	for i := range c.ResourceClaims {
		f.Add(schedulingv1alpha3.Validate_WorkloadPodGroupResourceClaim(ctx, create, claims.Index(i).Field(), &c.ResourceClaims[i], nil)...)
	}
}

func fewClaims(f *check.Errors, p *check.Path, c *batchv1.JobSchedulingConfiguration) bool {
	n := len(c.ResourceClaims)
	if n > maxClaims {
		f.Add(field.TooMany(p.Field(), n, maxClaims).WithOrigin("maxItems"))
	}
	return n <= maxClaims
}

// changedScheduling is scheduling for an update: only the policy may change.
func changedScheduling(f *check.Errors, p *check.Path, now, old *batchv1.JobSchedulingConfiguration) {
	if check.Same(now, old) || !stays(f, p, now != nil, old != nil) {
		return
	}
	at := p.Child("schedulingPolicy")
	if policy, was := now.SchedulingPolicy, old.SchedulingPolicy; !check.Same(policy, was) && stays(f, at, policy != nil, was != nil) {
		update := operation.Operation{Type: operation.Update}
		f.Add(schedulingv1alpha3.Validate_WorkloadPodGroupSchedulingPolicy(context.Background(), update, at.Field(), policy, was)...)
	}
	fixed := func(name string, now, old any) bool {
		if check.Same(now, old) {
			return true
		}
		f.Invalid(p.Child(name), nil, "field is immutable")
		return false
	}
	fixed("schedulingConstraints", now.SchedulingConstraints, old.SchedulingConstraints)
	fixed("disruptionMode", now.DisruptionMode, old.DisruptionMode)
	if !fixed("resourceClaims", now.ResourceClaims, old.ResourceClaims) {
		fewClaims(f, p.Child("resourceClaims"), now)
	}
}

// stays requires that a field is neither set nor cleared, and reports whether it is set in both objects.
func stays(f *check.Errors, p *check.Path, set, wasSet bool) bool {
	switch {
	case set && !wasSet:
		f.Invalid(p, nil, "field cannot be set once created")
	case wasSet && !set:
		f.Invalid(p, nil, "field cannot be cleared once set")
	}
	return set && wasSet
}
