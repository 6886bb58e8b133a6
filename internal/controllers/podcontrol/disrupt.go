package podcontrol

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/condition"
)

// Disrupt deletes a pod after it has given it the condition DisruptionTarget, and reports whether it did. It reads the pod
// from the server first: an old decision must not affect another pod of the same name, nor be carried out twice. target
// returns the condition; it is called only if the pod does not have one of that reason yet, and may record an event.
func Disrupt(ctx context.Context, pods client.Resource[*corev1.Pod], p *corev1.Pod, reason string, target func(live *corev1.Pod) corev1.PodCondition) (bool, error) {
	api := pods.Namespace(p.Namespace)
	live, err := api.Get(ctx, p.Name)
	if err != nil || live.UID != p.UID || live.DeletionTimestamp != nil {
		return false, client.IgnoreNotFound(err)
	}
	if c := condition.OfPod(&live.Status, corev1.DisruptionTarget); c == nil || c.Status != corev1.ConditionTrue || c.Reason != reason {
		c := target(live)
		c.Type, c.Status, c.Reason, c.LastTransitionTime = corev1.DisruptionTarget, corev1.ConditionTrue, reason, metav1.Now()
		_, err := api.Patch(ctx, p.Name, client.StrategicPatch(map[string]any{
			"metadata": map[string]any{"uid": p.UID},
			"status":   map[string]any{"conditions": []corev1.PodCondition{c}},
		}).On("status"))
		if err != nil {
			return false, client.IgnoreNotFound(err)
		}
	}
	err = api.Delete(ctx, p.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &p.UID}})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return false, nil // the pod is gone, or another one has its name by now
	}
	return err == nil, err
}
