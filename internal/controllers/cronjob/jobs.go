package cronjob

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/condition"
)

const scheduledAnnotation = "batch.kubernetes.io/cronjob-scheduled-timestamp"

func jobName(cj *batchv1.CronJob, at time.Time) string {
	return fmt.Sprintf("%s-%d", cj.Name, at.Unix()/60)
}

// build returns the Job of a time.
func build(cj *batchv1.CronJob, at time.Time) *batchv1.Job {
	t := cj.Spec.JobTemplate.DeepCopy()
	annotations := maps.Clone(t.Annotations)
	if annotations == nil {
		annotations = make(map[string]string)
	}
	stamp := at.UTC()
	if cj.Spec.TimeZone != nil {
		if zone, err := time.LoadLocation(*cj.Spec.TimeZone); err == nil {
			stamp = at.In(zone)
		}
	}
	annotations[scheduledAnnotation] = stamp.Format(time.RFC3339)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name:              jobName(cj, at),
			Namespace:         cj.Namespace,
			Labels:            t.Labels,
			Annotations:       annotations,
			CreationTimestamp: metav1.Time{Time: at},
			OwnerReferences:   []metav1.OwnerReference{*metav1.NewControllerRef(cj, kind)},
		},
		Spec: t.Spec,
	}
}

func refTo(j *batchv1.Job) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job",
		Namespace: j.Namespace, Name: j.Name, UID: j.UID, ResourceVersion: j.ResourceVersion,
	}
}

// endOf returns the condition with which the Job has finished, or nil.
func endOf(j *batchv1.Job) *batchv1.JobCondition {
	return condition.Find(j.Status.Conditions, func(c *batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

// trim deletes finished Jobs beyond the history limits, the oldest first.
func (c *cronJobs) trim(ctx context.Context, cj *batchv1.CronJob, jobs []*batchv1.Job) error {
	for t, limit := range map[batchv1.JobConditionType]*int32{
		batchv1.JobComplete: cj.Spec.SuccessfulJobsHistoryLimit,
		batchv1.JobFailed:   cj.Spec.FailedJobsHistoryLimit,
	} {
		if limit == nil {
			continue
		}
		for _, j := range surplus(jobs, t, int(*limit)) {
			if err := c.delete(ctx, cj, j); err != nil {
				return err
			}
		}
	}
	return nil
}

func surplus(jobs []*batchv1.Job, t batchv1.JobConditionType, keep int) []*batchv1.Job {
	var ended []*batchv1.Job
	for _, j := range jobs {
		if end := endOf(j); end != nil && end.Type == t && j.DeletionTimestamp == nil {
			ended = append(ended, j)
		}
	}
	slices.SortStableFunc(ended, func(a, b *batchv1.Job) int {
		return startOf(a).Compare(startOf(b))
	})
	return ended[:max(0, len(ended)-keep)]
}

func startOf(j *batchv1.Job) time.Time {
	if j.Status.StartTime != nil {
		return j.Status.StartTime.Time
	}
	return j.CreationTimestamp.Time
}

func (c *cronJobs) delete(ctx context.Context, cj *batchv1.CronJob, j *batchv1.Job) error {
	policy := metav1.DeletePropagationBackground
	err := client.IgnoreNotFound(c.jobs.API.Namespace(j.Namespace).Delete(ctx, j.Name, metav1.DeleteOptions{
		PropagationPolicy: &policy,
		Preconditions:     &metav1.Preconditions{UID: &j.UID},
	}))
	if err != nil {
		c.rec.Event(cj, corev1.EventTypeWarning, "FailedDelete", "Deleted job: %v", err)
		return err
	}
	c.rec.Event(cj, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted job %v", j.Name)
	return nil
}
