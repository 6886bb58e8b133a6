package cronjob

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

func isActive(cj *batchv1.CronJob, job types.UID) bool {
	return slices.ContainsFunc(cj.Status.Active, func(r corev1.ObjectReference) bool { return r.UID == job })
}

// settle removes finished and deleted Jobs from the list of active ones. Jobs missing in the list, because another
// client created them or the status write failed, are not added: they do not delay a run. It returns the newest
// state of the CronJob.
func (c *cronJobs) settle(ctx context.Context, cj *batchv1.CronJob, jobs []*batchv1.Job) (*batchv1.CronJob, error) {
	known := make(map[types.UID]bool, len(jobs))
	for _, j := range jobs {
		known[j.UID] = true
		end := endOf(j)
		switch {
		case end == nil && !isActive(cj, j.UID):
			fresh, err := c.all.API.Namespace(cj.Namespace).Get(ctx, cj.Name)
			if err != nil {
				return nil, err
			}
			if isActive(fresh, j.UID) {
				cj = fresh
				continue
			}
			c.rec.Event(cj, corev1.EventTypeWarning, "UnexpectedJob", "Saw a job that the controller did not create or forgot: %s", j.Name)
		case end == nil:
		default:
			c.ended(cj, j, end)
		}
	}
	for _, r := range slices.Clone(cj.Status.Active) {
		if known[r.UID] {
			continue
		}
		// The cache may lack it.
		j, err := c.jobs.API.Namespace(r.Namespace).Get(ctx, r.Name)
		switch {
		case apierrors.IsNotFound(err) || err == nil && j.UID != r.UID:
			c.rec.Event(cj, corev1.EventTypeNormal, "MissingJob", "Active job went missing: %v", r.Name)
			inactive(cj, r.UID)
		case err != nil:
			return nil, err
		}
	}
	return cj, nil
}

// ended records the end of a Job.
func (c *cronJobs) ended(cj *batchv1.CronJob, j *batchv1.Job, end *batchv1.JobCondition) {
	if isActive(cj, j.UID) {
		inactive(cj, j.UID)
		c.rec.Event(cj, corev1.EventTypeNormal, "SawCompletedJob", "Saw completed job: %s, condition: %v", j.Name, end.Type)
	}
	if end.Type == batchv1.JobComplete && j.Status.CompletionTime != nil &&
		(cj.Status.LastSuccessfulTime == nil || j.Status.CompletionTime.After(cj.Status.LastSuccessfulTime.Time)) {
		cj.Status.LastSuccessfulTime = j.Status.CompletionTime
	}
}

func inactive(cj *batchv1.CronJob, job types.UID) {
	cj.Status.Active = slices.DeleteFunc(cj.Status.Active, func(r corev1.ObjectReference) bool { return r.UID == job })
}

// replace deletes the running Jobs, to make room for the next.
func (c *cronJobs) replace(ctx context.Context, cj *batchv1.CronJob) error {
	for _, r := range slices.Clone(cj.Status.Active) {
		j, err := c.jobs.API.Namespace(r.Namespace).Get(ctx, r.Name)
		if err != nil {
			c.rec.Event(cj, corev1.EventTypeWarning, "FailedGet", "Get job: %v", err)
			return err
		}
		if err := c.delete(ctx, cj, j); err != nil {
			return err
		}
		inactive(cj, r.UID)
	}
	return nil
}
