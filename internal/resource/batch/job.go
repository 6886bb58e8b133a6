package batch

import (
	"fmt"
	"math"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var selectorColumn = resource.WideOnly(resource.Text("Selector", "Labels of the pods that are counted."))

var jobTable = resource.TableOf(func(j *batchv1.Job) []any {
	names, images := resource.Containers(j.Spec.Template.Spec.Containers)
	return []any{
		j.Name, jobStatus(j), completions(j), jobDuration(&j.Status), resource.AgeOf(j),
		names, images, metav1.FormatLabelSelector(j.Spec.Selector),
	}
},
	resource.NameColumn,
	resource.Text("Status", "How the job is getting on."),
	resource.Text("Completions", "Pods that have succeeded, of those that should."),
	resource.Text("Duration", "How long the job took, or has been at it."),
	resource.AgeColumn, resource.ContainersColumn, resource.ImagesColumn, selectorColumn,
)

func completions(j *batchv1.Job) string {
	if n := j.Spec.Completions; n != nil {
		return fmt.Sprintf("%d/%d", j.Status.Succeeded, *n)
	}
	if n := ptr.Deref(j.Spec.Parallelism, 0); n > 1 {
		return fmt.Sprintf("%d/1 of %d", j.Status.Succeeded, n)
	}
	return fmt.Sprintf("%d/1", j.Status.Succeeded)
}

func jobDuration(s *batchv1.JobStatus) string {
	switch {
	case s.StartTime == nil:
		return ""
	case s.CompletionTime == nil:
		return duration.HumanDuration(time.Since(s.StartTime.Time))
	}
	return duration.HumanDuration(s.CompletionTime.Sub(s.StartTime.Time))
}

func jobStatus(j *batchv1.Job) string {
	switch {
	case jobIs(j, batchv1.JobComplete):
		return "Complete"
	case jobIs(j, batchv1.JobFailed):
		return "Failed"
	case j.DeletionTimestamp != nil:
		return "Terminating"
	case jobIs(j, batchv1.JobSuspended):
		return "Suspended"
	case jobIs(j, batchv1.JobFailureTarget):
		return "FailureTarget"
	case jobIs(j, batchv1.JobSuccessCriteriaMet):
		return "SuccessCriteriaMet"
	}
	return "Running"
}

func jobIs(j *batchv1.Job, t batchv1.JobConditionType) bool {
	for _, c := range j.Status.Conditions {
		if c.Type == t {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func jobStrategy() resource.Strategy {
	r := resource.SplitCounted(func(j *batchv1.Job) (*batchv1.JobSpec, *batchv1.JobStatus) { return &j.Spec, &j.Status })
	create := r.PrepareForCreate
	r.PrepareForCreate = func(j *batchv1.Job) {
		generateSelector(j)
		create(j)
	}
	r.Default = defaultJob
	r.Validate = validateJob
	r.ValidateUpdate = validateJobUpdate
	r.ValidateStatusUpdate = validateJobStatus
	r.Warnings = func(j *batchv1.Job) []string {
		var out []string
		if msgs := validation.IsDNS1123Label(j.Name); len(msgs) > 0 {
			out = append(out, fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", msgs))
		}
		return append(out, podspec.TemplateWarnings(&j.Spec.Template, check.At("spec", "template"))...)
	}
	r.OrphanByDefault = true
	r.OrphanWarning = "child pods are preserved by default when jobs are deleted; " +
		"set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"
	return r.Strategy()
}

func defaultJob(j *batchv1.Job) {
	defaultJobTemplate(&j.Spec)
	s := &j.Spec
	if s.Completions == nil && s.Parallelism == nil {
		s.Completions = ptr.To[int32](1)
	}
	resource.SetDefault(&s.Parallelism, 1)
	if s.BackoffLimitPerIndex != nil {
		resource.SetDefault(&s.BackoffLimit, math.MaxInt32)
	}
	resource.SetDefault(&s.BackoffLimit, 6)
	if len(j.Labels) == 0 && s.Template.Labels != nil {
		j.Labels = s.Template.Labels
	}
	resource.SetDefault(&s.CompletionMode, batchv1.NonIndexedCompletion)
	resource.SetDefault(&s.Suspend, false)
	if s.PodFailurePolicy != nil {
		resource.SetDefault(&s.PodReplacementPolicy, batchv1.Failed)
	}
	resource.SetDefault(&s.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	resource.SetDefault(&s.ManualSelector, false)
}

// defaultJobTemplate sets the defaults common to jobs and the job templates of cron jobs.
func defaultJobTemplate(s *batchv1.JobSpec) {
	podspec.DefaultTemplate(&s.Template)
	if s.PodFailurePolicy == nil {
		return
	}
	for i := range s.PodFailurePolicy.Rules {
		conditions := s.PodFailurePolicy.Rules[i].OnPodConditions
		for k := range conditions {
			if conditions[k].Status == "" {
				conditions[k].Status = corev1.ConditionTrue
			}
		}
	}
}

// Labels with the name and the uid of a pod's job, each in an older and a newer form.
var (
	nameLabels = []string{"job-name", batchv1.JobNameLabel}
	uidLabels  = []string{"controller-uid", batchv1.ControllerUidLabel}
)

// generateSelector labels a job's pods uniquely and selects by these labels, unless the user specifies the
// selector. The job's uid must have been set.
func generateSelector(j *batchv1.Job) {
	if ptr.Deref(j.Spec.ManualSelector, false) {
		return
	}
	labels := map[string]string{}
	for k, v := range j.Spec.Template.Labels {
		labels[k] = v
	}
	for i := range nameLabels {
		if _, ok := labels[nameLabels[i]]; !ok {
			labels[nameLabels[i]] = j.Name
		}
		if _, ok := labels[uidLabels[i]]; !ok {
			labels[uidLabels[i]] = string(j.UID)
		}
	}
	j.Spec.Template.Labels = labels
	if j.Spec.Selector == nil {
		j.Spec.Selector = &metav1.LabelSelector{}
	}
	if j.Spec.Selector.MatchLabels == nil {
		j.Spec.Selector.MatchLabels = map[string]string{}
	}
	if _, ok := j.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel]; !ok {
		j.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel] = string(j.UID)
	}
}
