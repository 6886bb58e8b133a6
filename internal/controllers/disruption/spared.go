package disruption

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/condition"
	"fairlead.dev/internal/controllers/podcontrol"
)

// isTarget reports whether the pod is marked for disruption and still active. A pod that its kubelet is about to
// terminate may take any time, so it does not count.
func isTarget(p *corev1.Pod) bool {
	c := condition.OfPod(&p.Status, corev1.DisruptionTarget)
	return c != nil && c.Status == corev1.ConditionTrue && c.Reason != corev1.PodReasonTerminationByKubelet && podcontrol.IsActive(p)
}

// clear resets the DisruptionTarget condition of a pod that was not deleted.
func (b *budgets) clear(ctx context.Context, p *corev1.Pod) (controller.Result, error) {
	if !isTarget(p) {
		return controller.Result{}, nil
	}
	since := condition.OfPod(&p.Status, corev1.DisruptionTarget).LastTransitionTime
	if left := staleCondition - time.Since(since.Time); left > 0 {
		return controller.Result{RequeueAfter: left}, nil
	}
	changed := p.DeepCopy()
	c := condition.OfPod(&changed.Status, corev1.DisruptionTarget)
	c.Status, c.LastTransitionTime, c.Reason, c.Message = corev1.ConditionFalse, metav1.Now(), "", ""
	c.ObservedGeneration = p.Generation
	_, err := b.pods.API.Namespace(p.Namespace).UpdateStatus(ctx, changed)
	return controller.Result{}, client.IgnoreNotFound(err)
}
