package compat

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// runJob creates a Job.
func runJob(p *place, name, image string, with func(*batchv1.JobSpec)) {
	p.Helper()
	spec := batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: podSpec(image)}}
	spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	spec.Template.Labels = map[string]string{"app": name}
	with(&spec)
	p.must(p.c.BatchV1().Jobs(p.ns).Create(p.ctx, &batchv1.Job{ObjectMeta: named(name), Spec: spec}, metav1.CreateOptions{}))
}

// over waits until a Job is over, and records it.
func over(p *place, name string) {
	p.Helper()
	j := see(p, "jobs", name, name+" over", func(j *batchv1.Job) bool {
		for _, c := range j.Status.Conditions {
			if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
				return true
			}
		}
		return false
	})
	recordJob(p, j)
}

func recordJob(p *place, j *batchv1.Job) {
	s := &j.Status
	p.saw("%s: active %d ready %d succeeded %d failed %d terminating %d, indexes %q failed %q, started %v ended %v", j.Name, s.Active, ptr.Deref(s.Ready, -1), s.Succeeded, s.Failed,
		ptr.Deref(s.Terminating, -1), s.CompletedIndexes, ptr.Deref(s.FailedIndexes, ""), s.StartTime != nil, s.CompletionTime != nil)
	for _, c := range sortedBy(s.Conditions, func(c batchv1.JobCondition) string { return string(c.Type) }) {
		p.saw("%s", condition(c.Type, c.Status, c.Reason, c.Message))
	}
	if u := s.UncountedTerminatedPods; u != nil {
		p.saw("uncounted %d %d", len(u.Succeeded), len(u.Failed))
	}
}

func job(p *place) {
	runJob(p, "three", "work:1", func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = ptr.To[int32](3), ptr.To[int32](2) })
	over(p, "three")
	p.event("Job", "three", "Completed", "Job completed")
	for _, pod := range p.pods("three") {
		see(p, "pods", pod.Name, "its finalizer gone", func(pod *corev1.Pod) bool { return len(pod.Finalizers) == 0 })
	}
	p.saw("%d pods", len(p.pods("three")))
	runJob(p, "brief", "work:1", func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = ptr.To[int32](1) })
	over(p, "brief")
	p.away("jobs", "brief")
}

func jobIndexed(p *place) {
	indexed := batchv1.IndexedCompletion
	runJob(p, "indexed", "work:1", func(s *batchv1.JobSpec) {
		s.Completions, s.Parallelism, s.CompletionMode = ptr.To[int32](3), ptr.To[int32](3), &indexed
	})
	over(p, "indexed")
	for _, pod := range sortedBy(p.pods("indexed"), func(pod corev1.Pod) string { return pod.Name }) {
		p.saw("index %s %s host %s, %d env", pod.Annotations["batch.kubernetes.io/job-completion-index"], pod.Labels["batch.kubernetes.io/job-completion-index"], pod.Spec.Hostname, len(pod.Spec.Containers[0].Env))
	}
	runJob(p, "per-index", "fail", func(s *batchv1.JobSpec) {
		s.Completions, s.Parallelism, s.CompletionMode, s.BackoffLimitPerIndex = ptr.To[int32](2), ptr.To[int32](2), &indexed, ptr.To[int32](0)
	})
	over(p, "per-index")
	runJob(p, "enough", "work:1", func(s *batchv1.JobSpec) {
		s.Completions, s.Parallelism, s.CompletionMode = ptr.To[int32](2), ptr.To[int32](1), &indexed
		s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0")}}}
	})
	over(p, "enough")
}

func jobFailures(p *place) {
	runJob(p, "fails", "fail", func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](0) })
	over(p, "fails")
	p.event("Job", "fails", "BackoffLimitExceeded", "Job has reached")
	runJob(p, "policy", "fail:3", func(s *batchv1.JobSpec) {
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: batchv1.PodFailurePolicyActionFailJob,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{3}}}}}
	})
	over(p, "policy")
	runJob(p, "late", "work:1", func(s *batchv1.JobSpec) {
		s.ActiveDeadlineSeconds = ptr.To[int64](1)
		s.Template.Annotations = map[string]string{"fairlead.dev/run-for": "forever"}
	})
	over(p, "late")
}

func jobSuspended(p *place) {
	runJob(p, "held", "work:1", func(s *batchv1.JobSpec) { s.Suspend = ptr.To(true) })
	recordJob(p, see(p, "jobs", "held", "suspended", func(j *batchv1.Job) bool { return len(j.Status.Conditions) > 0 }))
	p.saw("%d pods", len(p.pods("held")))
	p.must(p.c.BatchV1().Jobs(p.ns).Patch(p.ctx, "held", types.MergePatchType, []byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{}))
	over(p, "held")
	p.event("Job", "held", "Resumed", "Job resumed")
}

func cron(p *place) {
	spec := corev1.PodTemplateSpec{Spec: podSpec("work:1")}
	spec.Spec.RestartPolicy = corev1.RestartPolicyNever
	p.must(p.c.BatchV1().CronJobs(p.ns).Create(p.ctx, &batchv1.CronJob{ObjectMeta: named("minutely"), Spec: batchv1.CronJobSpec{
		Schedule: "* * * * *", TimeZone: ptr.To("Europe/Paris"), ConcurrencyPolicy: batchv1.ForbidConcurrent,
		JobTemplate: batchv1.JobTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"cron": "yes"}}, Spec: batchv1.JobSpec{Template: spec}},
	}}, metav1.CreateOptions{}))
	c := see(p, "cronjobs", "minutely", "one success", func(c *batchv1.CronJob) bool { return c.Status.LastSuccessfulTime != nil && len(c.Status.Active) == 0 })
	j := see(p, "jobs", "", "the job", func(j *batchv1.Job) bool { return j.Labels["cron"] == "yes" })
	o := j.OwnerReferences[0]
	p.saw("named by the minute %v, at second %d, owner %s %s, controller %v, annotated %v", j.Name == fmt.Sprintf("minutely-%d", c.Status.LastScheduleTime.Unix()/60),
		c.Status.LastScheduleTime.Second(), o.Kind, o.Name, *o.Controller, j.Annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"] != "")
	p.event("CronJob", "minutely", "SuccessfulCreate", "Created job minutely-")
	p.event("CronJob", "minutely", "SawCompletedJob", "Saw completed job: minutely-")
}
