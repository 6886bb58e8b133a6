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
		if j, ok := c.owners.Of(p); ok && (!isFinished(j) || !isOurs(j)) {
			return controller.Result{}, nil
		}
	}
	return controller.Result{}, c.untrack(ctx, p)
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
