package ttlafterfinished

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

type reaper struct {
	jobs controller.Objects[*batchv1.Job]
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	r := &reaper{controller.ObjectsOf[*batchv1.Job](env)}
	return controller.New("ttlafterfinished", controller.ByObject(r.jobs, r.reconcile), controller.Options{}).Watch(
		controller.Watches(r.jobs, ifExpiring))
}

// ifExpiring returns the key of a Job that is to be deleted some time.
func ifExpiring(j *batchv1.Job) []controller.Key {
	if _, ok := expiry(j); !ok {
		return nil
	}
	return controller.Self(j)
}

func (r *reaper) reconcile(ctx context.Context, j *batchv1.Job) (controller.Result, error) {
	api := r.jobs.API.Namespace(j.Namespace)
	for fresh := false; ; fresh = true {
		at, ok := expiry(j)
		if !ok {
			return controller.Result{}, nil
		}
		if left := time.Until(at); left > 0 {
			return controller.Result{RequeueAfter: left}, nil
		}
		if fresh {
			break
		}
		var err error
		if j, err = api.Get(ctx, j.Name); err != nil {
			return controller.Result{}, client.IgnoreNotFound(err)
		}
	}
	policy := metav1.DeletePropagationForeground
	err := api.Delete(ctx, j.Name, metav1.DeleteOptions{
		PropagationPolicy: &policy,
		Preconditions:     &metav1.Preconditions{UID: &j.UID, ResourceVersion: &j.ResourceVersion},
	})
	return controller.Result{}, client.IgnoreNotFound(err)
}

// expiry returns when the Job is to be deleted. ok is false if it is not to be, or is terminating already.
func expiry(j *batchv1.Job) (time.Time, bool) {
	if j.Spec.TTLSecondsAfterFinished == nil || j.DeletionTimestamp != nil {
		return time.Time{}, false
	}
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Add(time.Duration(*j.Spec.TTLSecondsAfterFinished) * time.Second), true
		}
	}
	return time.Time{}, false
}
