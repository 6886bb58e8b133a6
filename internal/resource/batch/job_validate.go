package batch

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

func validateJob(j *batchv1.Job) field.ErrorList {
	var f check.Errors
	generatedSelector(&f, j)
	selectedJob(&f, j)
	if s := &j.Spec; indexed(s) && s.Completions != nil && *s.Completions > 0 {
		last := fmt.Sprintf("%s-%d", j.Name, *s.Completions-1)
		if len(validation.IsDNS1123Label(last)) > 0 {
			f.Invalid(check.At("metadata", "name"), j.Name, fmt.Sprintf("will not able to create pod with invalid DNS label: %s", last))
		}
	}
	scheduling(&f, check.At("spec", "scheduling"), j.Spec.Scheduling)
	return f.List()
}

func indexed(s *batchv1.JobSpec) bool {
	return s.CompletionMode != nil && *s.CompletionMode == batchv1.IndexedCompletion
}

// generatedSelector requires the labels that were given to the job's pods.
func generatedSelector(f *check.Errors, j *batchv1.Job) {
	if ptr.Deref(j.Spec.ManualSelector, false) || j.Spec.Selector == nil {
		return
	}
	p := check.At("spec", "template", "metadata", "labels")
	want := labels.Set{}
	has := func(key, value string) {
		want[key] = value
		if got, ok := j.Spec.Template.Labels[key]; !ok {
			f.Required(p.Key(key), fmt.Sprintf("must be '%s'", value))
		} else if got != value {
			f.Invalid(p.Key(key), j.Spec.Template.Labels, fmt.Sprintf("must be '%s'", value))
		}
	}
	for i := range nameLabels {
		has(uidLabels[i], string(j.UID))
		has(nameLabels[i], j.Name)
	}
	if s, err := metav1.LabelSelectorAsSelector(j.Spec.Selector); err == nil && !s.Matches(want) {
		f.Invalid(check.At("spec", "selector"), j.Spec.Selector, "`selector` not auto-generated")
	}
}

func selectedJob(f *check.Errors, j *batchv1.Job) {
	p, s := check.At("spec"), &j.Spec
	jobSpec(f, p, s)
	if s.Selector == nil {
		f.Required(p.Child("selector"), "")
	} else {
		f.Selector(p.Child("selector"), s.Selector)
	}
	if parsed, err := metav1.LabelSelectorAsSelector(s.Selector); err == nil && !parsed.Matches(labels.Set(s.Template.Labels)) {
		f.Invalid(p.Child("template", "metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`")
	}
}

// Bounds of indexed jobs: above so many completions, others get narrower.
const (
	maxParallel         = 100_000
	maxFailedIndexes    = 100_000
	manyCompletions     = 100_000
	parallelIfMany      = 10_000
	failedIndexesIfMany = 10_000
)

// jobSpec reports the faults of a job's spec, bar its selector.
func jobSpec(f *check.Errors, p *check.Path, s *batchv1.JobSpec) {
	for _, n := range []struct {
		name  string
		value *int32
	}{{"parallelism", s.Parallelism}, {"completions", s.Completions}, {"backoffLimit", s.BackoffLimit},
		{"ttlSecondsAfterFinished", s.TTLSecondsAfterFinished}, {"backoffLimitPerIndex", s.BackoffLimitPerIndex},
		{"maxFailedIndexes", s.MaxFailedIndexes}} {
		if n.value != nil {
			f.NotNegative(p.Child(n.name), int64(*n.value))
		}
	}
	if s.ActiveDeadlineSeconds != nil {
		f.NotNegative(p.Child("activeDeadlineSeconds"), *s.ActiveDeadlineSeconds)
	}
	if s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil {
		f.Required(p.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified")
	}
	if s.ManagedBy != nil {
		f.Add(validation.IsDomainPrefixedPath(p.Child("managedBy").Field(), *s.ManagedBy)...)
		if len(*s.ManagedBy) > 63 {
			f.Add(field.TooLong(p.Child("managedBy").Field(), "", 63))
		}
	}
	if s.CompletionMode != nil {
		check.Known(f, p.Child("completionMode"), *s.CompletionMode, batchv1.NonIndexedCompletion, batchv1.IndexedCompletion)
	}
	if indexed(s) {
		indexedSpec(f, p, s)
	}
	if s.CompletionMode == nil || *s.CompletionMode == batchv1.NonIndexedCompletion {
		const why = "requires indexed completion mode"
		if s.BackoffLimitPerIndex != nil {
			f.Invalid(p.Child("backoffLimitPerIndex"), *s.BackoffLimitPerIndex, why)
		}
		if s.MaxFailedIndexes != nil {
			f.Invalid(p.Child("maxFailedIndexes"), *s.MaxFailedIndexes, why)
		}
	}
	if s.SuccessPolicy != nil && !indexed(s) {
		f.Invalid(p.Child("successPolicy"), *s.SuccessPolicy, "requires indexed completion mode")
	}
	if s.PodFailurePolicy != nil {
		failurePolicy(f, p.Child("podFailurePolicy", "rules"), s)
	}
	if s.SuccessPolicy != nil && indexed(s) && s.Completions != nil {
		successPolicy(f, p.Child("successPolicy", "rules"), s)
	}
	if r := s.PodReplacementPolicy; r != nil {
		if s.PodFailurePolicy != nil {
			check.Known(f, p.Child("podReplacementPolicy"), *r, batchv1.Failed)
		} else {
			check.Known(f, p.Child("podReplacementPolicy"), *r, batchv1.Failed, batchv1.TerminatingOrFailed)
		}
	}
	gang(f, p.Child("scheduling"), s)
	f.Add(podspec.ValidateTemplate(&s.Template, p.Child("template"))...)
	at := p.Child("template", "spec", "restartPolicy")
	switch policy := s.Template.Spec.RestartPolicy; {
	case policy == corev1.RestartPolicyAlways || policy == "":
		f.Required(at, fmt.Sprintf("valid values: %q, %q", corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever))
	case policy != corev1.RestartPolicyOnFailure && policy != corev1.RestartPolicyNever:
		check.Known(f, at, policy, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)
	case s.PodFailurePolicy != nil && policy != corev1.RestartPolicyNever:
		f.Invalid(at, policy, fmt.Sprintf("only %q is supported when podFailurePolicy is specified", corev1.RestartPolicyNever))
	}
}

func indexedSpec(f *check.Errors, p *check.Path, s *batchv1.JobSpec) {
	const mode = batchv1.IndexedCompletion
	if s.Completions == nil {
		f.Required(p.Child("completions"), fmt.Sprintf("when completion mode is %s", mode))
	}
	if n := s.Parallelism; n != nil && *n > maxParallel {
		f.Invalid(p.Child("parallelism"), *n, fmt.Sprintf("must be less than or equal to %d when completion mode is %s", maxParallel, mode))
	}
	failed := p.Child("maxFailedIndexes")
	if n := s.MaxFailedIndexes; n != nil {
		if s.Completions != nil && *n > *s.Completions {
			f.Invalid(failed, *n, "must be less than or equal to completions")
		}
		if *n > maxFailedIndexes {
			f.Invalid(failed, *n, fmt.Sprintf("must be less than or equal to %d", maxFailedIndexes))
		}
	}
	if s.Completions == nil || *s.Completions <= manyCompletions || s.BackoffLimitPerIndex == nil {
		return
	}
	const why = "must be less than or equal to %d when completions are above %d and used with backoff limit per index"
	if s.MaxFailedIndexes == nil {
		f.Required(failed, fmt.Sprintf("must be specified when completions is above %d", manyCompletions))
	}
	if n := s.Parallelism; n != nil && *n > parallelIfMany {
		f.Invalid(p.Child("parallelism"), *n, fmt.Sprintf(why, parallelIfMany, manyCompletions))
	}
	if n := s.MaxFailedIndexes; n != nil && *n > failedIndexesIfMany {
		f.Invalid(failed, *n, fmt.Sprintf(why, failedIndexesIfMany, manyCompletions))
	}
}

func validateJobUpdate(j, old *batchv1.Job) field.ErrorList {
	var f check.Errors
	selectedJob(&f, j)
	p, now, was := check.At("spec"), &j.Spec, &old.Spec
	if !indexed(now) {
		f.Same(p.Child("completions"), now.Completions, was.Completions)
	} else if n := now.Completions; n != nil && !apiequality.Semantic.DeepEqual(n, was.Completions) && *n != ptr.Deref(now.Parallelism, 0) {
		f.Invalid(p.Child("completions"), n, "can only be modified in tandem with spec.parallelism")
	}
	f.Same(p.Child("selector"), now.Selector, was.Selector)
	if mutableTemplate(old) {
		f.Same(p.Child("template", "spec"), now.Template.Spec, *mutatedPodSpec(&now.Template.Spec, &was.Template.Spec))
	} else {
		f.Same(p.Child("template"), now.Template, was.Template)
	}
	f.Same(p.Child("completionMode"), now.CompletionMode, was.CompletionMode)
	f.Same(p.Child("podFailurePolicy"), now.PodFailurePolicy, was.PodFailurePolicy)
	f.Same(p.Child("backoffLimitPerIndex"), now.BackoffLimitPerIndex, was.BackoffLimitPerIndex)
	f.Same(p.Child("managedBy"), now.ManagedBy, was.ManagedBy)
	f.Same(p.Child("successPolicy"), now.SuccessPolicy, was.SuccessPolicy)
	samePolicy(&f, p.Child("scheduling"), now.Scheduling, was.Scheduling)
	changedScheduling(&f, p.Child("scheduling"), now.Scheduling, was.Scheduling)
	return f.List()
}

// mutableTemplate reports whether parts of the template of the job may change: its metadata, and node selection and
// resources of its pods. They may while the job is suspended and has no pods.
func mutableTemplate(old *batchv1.Job) bool {
	return ptr.Deref(old.Spec.Suspend, false) && (old.Status.StartTime == nil || jobIs(old, batchv1.JobSuspended)) && old.Status.Active == 0
}

// mutatedPodSpec returns the old pod spec with the mutable fields of the new one.
func mutatedPodSpec(now, old *corev1.PodSpec) *corev1.PodSpec {
	s := old.DeepCopy()
	s.NodeSelector, s.Tolerations, s.SchedulingGates = now.NodeSelector, now.Tolerations, now.SchedulingGates
	var affinity *corev1.NodeAffinity
	if now.Affinity != nil {
		affinity = now.Affinity.NodeAffinity
	}
	if s.Affinity == nil {
		s.Affinity = &corev1.Affinity{}
	}
	s.Affinity.NodeAffinity = affinity
	if now.Affinity == nil && *s.Affinity == (corev1.Affinity{}) {
		s.Affinity = nil
	}
	resources := func(to, from []corev1.Container) {
		if len(to) != len(from) {
			return
		}
		for i := range to {
			if to[i].Name == from[i].Name {
				to[i].Resources = from[i].Resources
			}
		}
	}
	resources(s.Containers, now.Containers)
	resources(s.InitContainers, now.InitContainers)
	return s
}
