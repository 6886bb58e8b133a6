package batch

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource/check"
)

// validateJobStatus requires a consistent status: a finished job has a start time, no active pods, and one result;
// and facts reported before do not change.
func validateJobStatus(j, old *batchv1.Job) field.ErrorList {
	var f check.Errors
	p, s := check.At("status"), &j.Status
	f.NotNegative(p.Child("active"), int64(s.Active))
	f.NotNegative(p.Child("succeeded"), int64(s.Succeeded))
	f.NotNegative(p.Child("failed"), int64(s.Failed))
	if s.Ready != nil {
		f.NotNegative(p.Child("ready"), int64(*s.Ready))
	}
	if s.Terminating != nil {
		f.NotNegative(p.Child("terminating"), int64(*s.Terminating))
	}
	if u := s.UncountedTerminatedPods; u != nil {
		seen := map[types.UID]bool{}
		uids(&f, p.Child("uncountedTerminatedPods", "succeeded"), u.Succeeded, seen)
		uids(&f, p.Child("uncountedTerminatedPods", "failed"), u.Failed, seen)
	}
	endings(&f, p, j, old)
	if s.Ready != nil && *s.Ready > s.Active {
		f.Invalid(p.Child("ready"), *s.Ready, "cannot set more ready pods than active")
	}
	if s.CompletedIndexes != "" && !indexed(&j.Spec) {
		f.Invalid(p.Child("completedIndexes"), s.CompletedIndexes, "cannot set non-empty completedIndexes when non-indexed completion mode")
	}
	if s.FailedIndexes != nil && j.Spec.BackoffLimitPerIndex == nil {
		f.Invalid(p.Child("failedIndexes"), *s.FailedIndexes, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	}
	if s.Failed < old.Status.Failed {
		f.Invalid(p.Child("failed"), s.Failed, "cannot decrease the failed counter")
	}
	if s.Succeeded < old.Status.Succeeded {
		f.Invalid(p.Child("succeeded"), s.Succeeded, "cannot decrease the succeeded counter")
	}
	if s.CompletionTime != nil && old.Status.CompletionTime != nil && !s.CompletionTime.Equal(old.Status.CompletionTime) {
		f.Invalid(p.Child("completionTime"), s.CompletionTime, "field is immutable")
	}
	if old.Status.StartTime != nil && !old.Status.StartTime.Equal(s.StartTime) && !ptr.Deref(j.Spec.Suspend, false) {
		f.Invalid(p.Child("startTime"), s.StartTime, "field is immutable for unsuspended job once set")
	}
	return f.List()
}

func uids(f *check.Errors, p *check.Path, list []types.UID, seen map[types.UID]bool) {
	for i, uid := range list {
		if uid == "" {
			f.Invalid(p.Index(i), uid, "must not be empty")
		} else if seen[uid] {
			f.Duplicate(p.Index(i), uid)
		}
		seen[uid] = true
	}
}

func endings(f *check.Errors, p *check.Path, j, old *batchv1.Job) {
	s := &j.Status
	complete, failed := jobIs(j, batchv1.JobComplete), jobIs(j, batchv1.JobFailed)
	failing, met := jobIs(j, batchv1.JobFailureTarget), jobIs(j, batchv1.JobSuccessCriteriaMet)
	never := func(cond bool, why string) {
		if cond {
			f.Invalid(p.Child("conditions"), field.OmitValueType{}, why)
		}
	}
	never(complete && failed, "cannot set Complete=True and Failed=true conditions")
	never(complete && failing, "cannot set Complete=True and FailureTarget=true conditions")
	never(failed && !failing, "cannot set Failed=True condition without the FailureTarget=true condition")
	never(complete && !met, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
	never(met && failed, "cannot set SuccessCriteriaMet=True and Failed=true conditions")
	never(met && failing, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
	at := p.Child("completionTime")
	switch {
	case s.CompletionTime != nil && !complete:
		f.Invalid(at, s.CompletionTime, "cannot set completionTime when there is no Complete=True condition")
	case s.CompletionTime == nil && complete:
		f.Required(at, "completionTime is required for Complete jobs")
	case s.CompletionTime != nil && s.StartTime != nil && s.CompletionTime.Before(s.StartTime):
		f.Invalid(at, s.CompletionTime, "must be equal to or after `startTime`")
	}
	if complete || failed {
		if s.Active > 0 {
			f.Invalid(p.Child("active"), s.Active, "active>0 is invalid for finished job")
		}
		if s.StartTime == nil {
			f.Required(p.Child("startTime"), "startTime is required for finished job")
		}
		if u := s.UncountedTerminatedPods; u != nil && len(u.Failed)+len(u.Succeeded) > 0 {
			f.Invalid(p.Child("uncountedTerminatedPods"), u, "must be empty for finished job")
		}
		if ptr.Deref(s.Terminating, 0) > 0 {
			f.Invalid(p.Child("terminating"), s.Terminating, "terminating>0 is invalid for finished job")
		}
	}
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget} {
		never(jobIs(old, t) && !jobIs(j, t), fmt.Sprintf("cannot disable the terminal %s=True condition", t))
	}
	never(jobIs(old, batchv1.JobSuccessCriteriaMet) && !met, "cannot disable the SuccessCriteriaMet=True condition")
}
