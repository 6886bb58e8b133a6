package job

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// strayPods enqueues the tracked pods of a Job that no longer counts them.
func (c *jobs) strayPods(j *batchv1.Job) {
	for _, p := range c.pods.By(j.UID) {
		if isTracked(p) {
			c.strays.EnqueueFor(controller.KeyOf(p), j)
		}
	}
}

// releaseStray removes the tracking finalizer from a pod whose Job is finished or gone, so that the pod can be
// deleted. Pods of a Job managed by another controller are left to that one.
func (c *jobs) releaseStray(ctx context.Context, p *corev1.Pod) (controller.Result, error) {
	if !isTracked(p) {
		return controller.Result{}, nil
	}
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		if ref.Kind != kind.Kind || ref.APIVersion != batchv1.SchemeGroupVersion.String() {
			return controller.Result{}, nil // belongs to another kind of owner
		}
		j, err := c.ownerOf(ctx, p, ref)
		if err != nil || j != nil && (!isFinished(j) || !isOurs(j)) {
			return controller.Result{}, err
		}
	}
	return controller.Result{}, c.untrack(ctx, p)
}

// ownerOf returns the Job of a pod, or nil if it is gone. The informer of pods may be ahead of that of Jobs, so the server
// is asked for a Job that the informer does not have.
func (c *jobs) ownerOf(ctx context.Context, p *corev1.Pod, ref *metav1.OwnerReference) (*batchv1.Job, error) {
	if j, ok := c.owners.Of(p); ok {
		return j, nil
	}
	j, err := c.all.API.Namespace(p.Namespace).Get(ctx, ref.Name)
	if apierrors.IsNotFound(err) || err == nil && j.UID != ref.UID {
		return nil, nil
	}
	return j, err
}

// untrack removes the tracking finalizer from a pod. A missing pod is not an error.
func (c *jobs) untrack(ctx context.Context, p *corev1.Pod) error {
	_, err := c.pods.API.Namespace(p.Namespace).Patch(ctx, p.Name, client.StrategicPatch(map[string]any{
		"metadata": map[string]any{
			"uid":                                 p.UID,
			"$deleteFromPrimitiveList/finalizers": []string{batchv1.JobTrackingFinalizer},
		},
	}))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // gone, or another pod of that name
	}
	return err
}
