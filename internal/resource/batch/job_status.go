package batch

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource/check"
)

// validateJobStatus requires a consistent status: a finished job has a start time, no active pods, and one result;
// and facts reported before do not change. Most of these rules apply only to a write that changes one of their fields,
// because a change of the spec may break them until the controller has seen it.
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
	finishedJobConditions(&f, p, j, old)
	finishedJobTimes(&f, p, j, old)
	finishedJobPods(&f, p, j, old)
	jobIndexes(&f, p, j, old)
	jobCounters(&f, p, j, old)
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

// conditionChanges reports whether the write changes whether the job has the condition.
func conditionChanges(j, old *batchv1.Job, t batchv1.JobConditionType) bool {
	return jobIs(j, t) != jobIs(old, t)
}

func jobFinished(j *batchv1.Job) bool {
	return jobIs(j, batchv1.JobComplete) || jobIs(j, batchv1.JobFailed)
}

func finishedJobConditions(f *check.Errors, p *check.Path, j, old *batchv1.Job) {
	never := func(cond bool, why string) {
		if cond {
			f.Invalid(p.Child("conditions"), field.OmitValueType{}, why)
		}
	}
	complete, failed := jobIs(j, batchv1.JobComplete), jobIs(j, batchv1.JobFailed)
	failing, met := jobIs(j, batchv1.JobFailureTarget), jobIs(j, batchv1.JobSuccessCriteriaMet)
	completes, fails := conditionChanges(j, old, batchv1.JobComplete), conditionChanges(j, old, batchv1.JobFailed)
	meets := conditionChanges(j, old, batchv1.JobSuccessCriteriaMet)

	never((completes || fails) && complete && failed, "cannot set Complete=True and Failed=true conditions")
	never((completes || conditionChanges(j, old, batchv1.JobFailureTarget)) && complete && failing, "cannot set Complete=True and FailureTarget=true conditions")
	never((fails || !ptr.Equal(j.Status.FailedIndexes, old.Status.FailedIndexes)) && failed && !failing,
		"cannot set Failed=True condition without the FailureTarget=true condition")
	never((completes || meets) && complete && !met, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
	never(met && failed, "cannot set SuccessCriteriaMet=True and Failed=true conditions")
	never(met && failing, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
	never(j.Spec.SuccessPolicy != nil && complete && !met, "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget} {
		never(jobIs(old, t) && !jobIs(j, t), fmt.Sprintf("cannot disable the terminal %s=True condition", t))
	}
	never(meets && !met, "cannot disable the SuccessCriteriaMet=True condition")
	never(meets && met && jobIs(old, batchv1.JobComplete), "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
}

func finishedJobTimes(f *check.Errors, p *check.Path, j, old *batchv1.Job) {
	s, was, complete := &j.Status, &old.Status, jobIs(j, batchv1.JobComplete)
	started, ended := !s.StartTime.Equal(was.StartTime), !s.CompletionTime.Equal(was.CompletionTime)
	at := p.Child("completionTime")
	if ended || conditionChanges(j, old, batchv1.JobComplete) {
		switch {
		case s.CompletionTime != nil && !complete:
			f.Invalid(at, s.CompletionTime, "cannot set completionTime when there is no Complete=True condition")
		case s.CompletionTime == nil && complete:
			f.Required(at, "completionTime is required for Complete jobs")
		}
	}
	if (started || ended) && s.CompletionTime != nil && s.StartTime != nil && s.CompletionTime.Before(s.StartTime) {
		f.Invalid(at, s.CompletionTime, "must be equal to or after `startTime`")
	}
	if ended && s.CompletionTime != nil && was.CompletionTime != nil {
		f.Invalid(at, s.CompletionTime, "field is immutable")
	}
	suspended := ptr.Deref(j.Spec.Suspend, false)
	empty := suspended && ptr.Equal(j.Spec.Completions, ptr.To[int32](0))
	if (started || jobFinished(j) != jobFinished(old)) && jobFinished(j) && s.StartTime == nil && !empty {
		f.Required(p.Child("startTime"), "startTime is required for finished job")
	}
	resumes := jobIs(old, batchv1.JobSuspended) && slices.ContainsFunc(s.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionFalse
	})
	if started && was.StartTime != nil && !suspended && !resumes {
		f.Invalid(p.Child("startTime"), s.StartTime, "field is immutable for unsuspended job once set")
	}
}

// finishedJobPods requires that a finished job has no pods left.
func finishedJobPods(f *check.Errors, p *check.Path, j, old *batchv1.Job) {
	s, was, finished := &j.Status, &old.Status, jobFinished(j)
	finishes := finished && !jobFinished(old)
	if s.Active > 0 && (finishes || finished && s.Active != was.Active) {
		f.Invalid(p.Child("active"), s.Active, "active>0 is invalid for finished job")
	}
	if u := s.UncountedTerminatedPods; u != nil && len(u.Failed)+len(u.Succeeded) > 0 &&
		(finishes || finished && !apiequality.Semantic.DeepEqual(u, was.UncountedTerminatedPods)) {
		f.Invalid(p.Child("uncountedTerminatedPods"), u, "must be empty for finished job")
	}
	if ptr.Deref(s.Terminating, 0) > 0 && (finishes || finished && !ptr.Equal(s.Terminating, was.Terminating)) {
		f.Invalid(p.Child("terminating"), s.Terminating, "terminating>0 is invalid for finished job")
	}
}

// jobCounters requires that results are not taken back. An indexed job with as many pods as indexes can be scaled down,
// with fewer of them succeeded.
func jobCounters(f *check.Errors, p *check.Path, j, old *batchv1.Job) {
	s, was := &j.Status, &old.Status
	if s.Ready != nil && *s.Ready > s.Active && (!ptr.Equal(s.Ready, was.Ready) || s.Active != was.Active) {
		f.Invalid(p.Child("ready"), *s.Ready, "cannot set more ready pods than active")
	}
	if s.Failed < was.Failed {
		f.Invalid(p.Child("failed"), s.Failed, "cannot decrease the failed counter")
	}
	elastic := indexed(&j.Spec) && ptr.Equal(j.Spec.Completions, j.Spec.Parallelism)
	if s.Succeeded < was.Succeeded && !elastic {
		f.Invalid(p.Child("succeeded"), s.Succeeded, "cannot decrease the succeeded counter")
	}
}
