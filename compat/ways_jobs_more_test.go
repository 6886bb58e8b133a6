package compat

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// jobEdges: Jobs without completions, without parallelism, of another controller, with
// restarting containers, and with a policy that ignores failures.
func jobEdges(p *place) {
	runJob(p, "queue", "work:1", func(s *batchv1.JobSpec) { s.Parallelism = ptr.To[int32](2) })
	over(p, "queue")
	runJob(p, "idle", "work:1", func(s *batchv1.JobSpec) { s.Parallelism = ptr.To[int32](0) })
	recordJob(p, see(p, "jobs", "idle", "begun", func(j *batchv1.Job) bool { return j.Status.StartTime != nil && j.Status.Ready != nil }))
	runJob(p, "theirs", "work:1", func(s *batchv1.JobSpec) { s.ManagedBy = ptr.To("example.com/other") })
	runJob(p, "again", "fail", func(s *batchv1.JobSpec) {
		s.BackoffLimit, s.Template.Spec.RestartPolicy = ptr.To[int32](1), corev1.RestartPolicyOnFailure
	})
	over(p, "again")
	p.event("Job", "again", "SuccessfulDelete", "Deleted pod: again-")
	p.event("Job", "again", "BackoffLimitExceeded", "")
	runJob(p, "overlooked", "fail:3", func(s *batchv1.JobSpec) {
		s.BackoffLimit = ptr.To[int32](0)
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
			{Action: batchv1.PodFailurePolicyActionIgnore, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{5}}},
			{Action: batchv1.PodFailurePolicyActionCount, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpNotIn, Values: []int32{5}}},
		}}
	})
	over(p, "overlooked")
	runJob(p, "shrinks", "work:1", func(s *batchv1.JobSpec) {
		s.Parallelism, s.Completions = ptr.To[int32](2), ptr.To[int32](4)
		s.Template.Annotations = map[string]string{"fairlead.dev/run-for": "forever"}
	})
	see(p, "jobs", "shrinks", "two ready", func(j *batchv1.Job) bool { return ptr.Deref(j.Status.Ready, 0) == 2 })
	p.must(p.c.BatchV1().Jobs(p.ns).Patch(p.ctx, "shrinks", types.MergePatchType, []byte(`{"spec":{"parallelism":1}}`), metav1.PatchOptions{}))
	recordJob(p, see(p, "jobs", "shrinks", "one ready", func(j *batchv1.Job) bool {
		return ptr.Deref(j.Status.Ready, 0) == 1 && j.Status.Active == 1 && ptr.Deref(j.Status.Terminating, 0) == 0
	}))
	p.event("Job", "shrinks", "SuccessfulDelete", "Deleted pod: shrinks-")
	p.must(p.c.BatchV1().Jobs(p.ns).Patch(p.ctx, "shrinks", types.MergePatchType, []byte(`{"spec":{"suspend":true}}`), metav1.PatchOptions{}))
	recordJob(p, see(p, "jobs", "shrinks", "suspended", func(j *batchv1.Job) bool {
		return len(j.Status.Conditions) > 0 && j.Status.Active == 0 && ptr.Deref(j.Status.Terminating, 0) == 0
	}))
	p.event("Job", "shrinks", "Suspended", "")
	j, err := p.c.BatchV1().Jobs(p.ns).Get(p.ctx, "theirs", metav1.GetOptions{})
	p.must(j, err)
	recordJob(p, j)
}

// jobByIndex: limits for each index, indexes that fail at once, successes that are enough.
func jobByIndex(p *place) {
	indexed := batchv1.IndexedCompletion
	runJob(p, "limited", "fail", func(s *batchv1.JobSpec) {
		s.Completions, s.Parallelism, s.CompletionMode = ptr.To[int32](4), ptr.To[int32](1), &indexed
		s.BackoffLimitPerIndex, s.MaxFailedIndexes = ptr.To[int32](0), ptr.To[int32](1)
	})
	over(p, "limited")
	runJob(p, "retried", "fail", func(s *batchv1.JobSpec) {
		s.Completions, s.Parallelism, s.CompletionMode, s.BackoffLimitPerIndex = ptr.To[int32](1), ptr.To[int32](1), &indexed, ptr.To[int32](1)
	})
	over(p, "retried")
	for _, pod := range sortedBy(p.pods("retried"), func(pod corev1.Pod) string { return pod.Annotations["batch.kubernetes.io/job-index-failure-count"] }) {
		p.saw("%s after %q failures, %q not counted", pod.Status.Phase, pod.Annotations["batch.kubernetes.io/job-index-failure-count"], pod.Annotations["batch.kubernetes.io/job-index-ignored-failure-count"])
	}
	runJob(p, "fail-index", "fail:3", func(s *batchv1.JobSpec) {
		s.Completions, s.Parallelism, s.CompletionMode, s.BackoffLimitPerIndex = ptr.To[int32](2), ptr.To[int32](2), &indexed, ptr.To[int32](5)
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: batchv1.PodFailurePolicyActionFailIndex,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{3}}}}}
	})
	over(p, "fail-index")
	runJob(p, "count", "work:1", func(s *batchv1.JobSpec) {
		s.Completions, s.Parallelism, s.CompletionMode = ptr.To[int32](3), ptr.To[int32](1), &indexed
		s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("1-2"), SucceededCount: ptr.To[int32](1)}}}
	})
	over(p, "count")
	p.event("Job", "count", "Completed", "")
}

// jobReplaces: failures by deletion, and the time of the replacement.
func jobReplaces(p *place) {
	for name, policy := range map[string]batchv1.PodReplacementPolicy{"eager": batchv1.TerminatingOrFailed, "waiting": batchv1.Failed} {
		runJob(p, name, "work:1", func(s *batchv1.JobSpec) {
			s.PodReplacementPolicy = &policy
			s.Template.Annotations = map[string]string{"fairlead.dev/run-for": "forever", "fairlead.dev/terminate-after": "20s"} // the next comes after 10 s
		})
	}
	for _, name := range []string{"eager", "waiting"} {
		see(p, "jobs", name, "one ready", func(j *batchv1.Job) bool { return ptr.Deref(j.Status.Ready, 0) == 1 })
		first := p.pods(name)[0]
		p.must(nil, p.c.CoreV1().Pods(p.ns).Delete(p.ctx, first.Name, metav1.DeleteOptions{}))
		j := see(p, "jobs", name, "one on its way out", func(j *batchv1.Job) bool {
			return ptr.Deref(j.Status.Terminating, 0) == 1 && (name == "waiting") == (j.Status.Active == 0)
		})
		p.saw("%s: active %d terminating %d failed %d", name, j.Status.Active, *j.Status.Terminating, j.Status.Failed)
		p.away("pods", first.Name)
		if name == "waiting" { // for the pod's end, and that is a good one
			over(p, name)
			continue
		}
		recordJob(p, see(p, "jobs", name, "another", func(j *batchv1.Job) bool {
			return ptr.Deref(j.Status.Ready, 0) == 1 && j.Status.Failed == 1 && ptr.Deref(j.Status.Terminating, 0) == 0 && j.Status.UncountedTerminatedPods != nil && len(j.Status.UncountedTerminatedPods.Failed) == 0
		}))
	}
}

// cronJob makes a CronJob of each minute, whose Jobs run for so long.
func cronJob(p *place, name, runFor string, with func(*batchv1.CronJobSpec)) {
	p.Helper()
	spec := batchv1.CronJobSpec{Schedule: "* * * * *"}
	spec.JobTemplate.Labels = map[string]string{"app": name}
	spec.JobTemplate.Annotations = map[string]string{"note": "kept"}
	spec.JobTemplate.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"fairlead.dev/run-for": runFor}}, Spec: podSpec("work:1")}
	spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	with(&spec)
	p.must(p.c.BatchV1().CronJobs(p.ns).Create(p.ctx, &batchv1.CronJob{ObjectMeta: named(name), Spec: spec}, metav1.CreateOptions{}))
}

// cronBusy: a Job that goes on keeps the next from starting.
func cronBusy(p *place) {
	cronJob(p, "busy", "forever", func(s *batchv1.CronJobSpec) { s.ConcurrencyPolicy = batchv1.ForbidConcurrent })
	cronJob(p, "still", "forever", func(s *batchv1.CronJobSpec) { s.Suspend = ptr.To(true) })
	cronJob(p, "forgets", "1s", func(s *batchv1.CronJobSpec) { s.SuccessfulJobsHistoryLimit = ptr.To[int32](0) })
	p.event("CronJob", "forgets", "SuccessfulDelete", "Deleted job forgets-")
	p.event("CronJob", "busy", "JobAlreadyActive", "")
	c := see(p, "cronjobs", "busy", "one active", func(c *batchv1.CronJob) bool { return len(c.Status.Active) == 1 })
	p.saw("active %s %s %s, version %v, uid %v, success %v", c.Status.Active[0].Kind, c.Status.Active[0].APIVersion, c.Status.Active[0].Namespace,
		c.Status.Active[0].ResourceVersion != "", c.Status.Active[0].UID != "", c.Status.LastSuccessfulTime != nil)
	j, err := p.c.BatchV1().Jobs(p.ns).Get(p.ctx, c.Status.Active[0].Name, metav1.GetOptions{})
	p.must(j, err)
	p.saw("labels %d annotations %d note %s", len(j.Labels), len(j.Annotations), j.Annotations["note"])
	p.must(nil, p.c.BatchV1().Jobs(p.ns).Delete(p.ctx, j.Name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}))
	p.event("CronJob", "busy", "MissingJob", "Active job went missing: busy-")
	s, err := p.c.BatchV1().CronJobs(p.ns).Get(p.ctx, "still", metav1.GetOptions{})
	p.must(s, err)
	p.saw("suspended: %v, %d active", s.Status.LastScheduleTime != nil, len(s.Status.Active))
}

// cronReplaces: a Job that goes on is deleted for the next.
func cronReplaces(p *place) {
	cronJob(p, "next", "forever", func(s *batchv1.CronJobSpec) { s.ConcurrencyPolicy = batchv1.ReplaceConcurrent })
	first := see(p, "cronjobs", "next", "one active", func(c *batchv1.CronJob) bool { return len(c.Status.Active) == 1 })
	second := see(p, "cronjobs", "next", "another active", func(c *batchv1.CronJob) bool {
		return len(c.Status.Active) == 1 && c.Status.Active[0].UID != first.Status.Active[0].UID
	})
	p.saw("a minute later %v, for %s", second.Status.LastScheduleTime.Sub(first.Status.LastScheduleTime.Time), strings.SplitN(second.Status.Active[0].Name, "-", 2)[0])
	p.event("CronJob", "next", "SuccessfulDelete", "Deleted job next-")
	p.away("jobs", first.Status.Active[0].Name)
}
