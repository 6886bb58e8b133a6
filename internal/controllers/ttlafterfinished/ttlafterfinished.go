package ttlafterfinished

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

type reaper struct {
	api  client.Resource[*batchv1.Job]
	jobs *informer.Informer[*batchv1.Job]
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	r := &reaper{api: client.For[*batchv1.Job](env.Client), jobs: informer.For[*batchv1.Job](env.Informers)}
	loop := controller.New("ttlafterfinished", r.reconcile, controller.Options{})
	controller.Watch(loop, r.jobs, func(j *batchv1.Job) []controller.Key {
		if _, ok := expiry(j); !ok {
			return nil
		}
		return controller.Self(j)
	})
	return loop
}

func (r *reaper) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	j, ok := r.jobs.Store().Get(k.Namespace, k.Name)
	if !ok {
		return controller.Result{}, nil
	}
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
		if j, err = r.api.Namespace(k.Namespace).Get(ctx, k.Name); err != nil {
			return controller.Result{}, client.IgnoreNotFound(err)
		}
	}
	policy := metav1.DeletePropagationForeground
	err := r.api.Namespace(k.Namespace).Delete(ctx, k.Name, metav1.DeleteOptions{
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
