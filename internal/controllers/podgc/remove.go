package podgc

import (
	"cmp"
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol"
)

// trimFinished deletes finished pods beyond the threshold: evicted ones first, then the oldest.
func (c *collector) trimFinished(ctx context.Context) error {
	pods := slices.DeleteFunc(c.pods.Store().ByIndex(byFinished, ""), func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
	surplus := surplusFinished(pods, threshold)
	return c.removeAll(ctx, surplus, nil, func(*corev1.Pod) bool { return true })
}

func surplusFinished(pods []*corev1.Pod, keep int) []*corev1.Pod {
	if len(pods) <= keep {
		return nil
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		if x, y := evicted(a), evicted(b); x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	return pods[:len(pods)-keep]
}

func evicted(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed && p.Status.Reason == "Evicted"
}

func (c *collector) removeAll(ctx context.Context, pods []*corev1.Pod, why *corev1.PodCondition, which func(*corev1.Pod) bool) error {
	pods = slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return !which(p) })
	_, err := podcontrol.Parallel(len(pods), func(i int) error { return c.remove(ctx, pods[i], why) })
	return err
}

// remove marks the pod as failed, unless it has finished, and deletes it at once.
func (c *collector) remove(ctx context.Context, p *corev1.Pod, why *corev1.PodCondition) error {
	api := c.pods.API.Namespace(p.Namespace)
	if !podcontrol.IsFinished(p) {
		status := map[string]any{"phase": corev1.PodFailed}
		if why != nil {
			why := *why
			why.ObservedGeneration = p.Generation
			status["conditions"] = []corev1.PodCondition{why}
		}
		_, err := api.Patch(ctx, p.Name, client.StrategicPatch(map[string]any{
			"metadata": map[string]any{"uid": p.UID},
			"status":   status,
		}).On("status"))
		if err != nil && !apierrors.IsConflict(err) {
			return client.IgnoreNotFound(err)
		}
	}
	now := int64(0)
	err := api.Delete(ctx, p.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now,
		Preconditions:      &metav1.Preconditions{UID: &p.UID},
	})
	if apierrors.IsConflict(err) {
		return nil // another pod has the name by now
	}
	return client.IgnoreNotFound(err)
}

// orphaned returns the condition of a pod whose node is gone.
func orphaned() *corev1.PodCondition {
	return &corev1.PodCondition{
		Type:               corev1.DisruptionTarget,
		Status:             corev1.ConditionTrue,
		LastTransitionTime: metav1.Now(),
		Reason:             "DeletionByPodGC",
		Message:            "PodGC: node no longer exists",
	}
}
