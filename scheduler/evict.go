package scheduler

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/metrics"
	"fairlead.dev/internal/scheduler/placement"
)

// evictLater deletes the victims of a preemption, in a goroutine of its own.
func (s *loop) evictLater(ctx context.Context, preemptor *corev1.Pod, e *placement.Candidate) {
	victims, node := evictable(e.Victims), e.Node.Name
	s.preBinding.Go(func() { s.evict(ctx, preemptor, victims, node) })
}

// evictable returns the pods among victims that are not being deleted already.
func evictable(victims []*cache.PodInfo) (pods []*corev1.Pod) {
	for _, v := range victims {
		if !v.Terminating {
			pods = append(pods, v.Pod)
		}
	}
	return pods
}

func (s *loop) evict(ctx context.Context, preemptor *corev1.Pod, victims []*corev1.Pod, node string) {
	start, err := time.Now(), error(nil)
	defer func() { s.profiles[preemptor.Spec.SchedulerName].Metrics.Evicted(metrics.ByPod, err, start) }()
	for _, victim := range victims {
		if err = s.evictOne(ctx, byPod(preemptor), victim, node); err != nil && ctx.Err() == nil {
			s.send(func() { s.endNomination(preemptor.UID) })
			return
		}
	}
}

// A preemptor is a pod, or a pod group, for which others are preempted.
type preemptor struct {
	scheduler, kind string
	uid             types.UID
	object          client.Object
}

func byPod(pod *corev1.Pod) preemptor { return preemptor{pod.Spec.SchedulerName, "pod", pod.UID, pod} }

// evictOne evicts a victim. where is the node on which it makes room, or the cluster.
func (s *loop) evictOne(ctx context.Context, by preemptor, victim *corev1.Pod, where string) error {
	pods := s.pods.Namespace(victim.Namespace)
	_, err := pods.Patch(ctx, victim.Name, client.StrategicPatch(map[string]any{
		"metadata": map[string]any{"uid": victim.UID},
		"status": map[string]any{"conditions": []corev1.PodCondition{{
			Type:               corev1.DisruptionTarget,
			Status:             corev1.ConditionTrue,
			ObservedGeneration: victim.Generation,
			Reason:             corev1.PodReasonPreemptionByScheduler,
			Message:            by.scheduler + ": preempting to accommodate a higher priority " + by.kind,
			LastTransitionTime: metav1.Now(),
		}}},
	}).On("status"))
	if err == nil {
		err = pods.Delete(ctx, victim.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &victim.UID}})
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // deleted already
	}
	if err == nil {
		s.profiles[by.scheduler].events.Act(victim, by.object, corev1.EventTypeNormal, "Preempted", "Preempting", "Preempted by %s %s on node %s", by.kind, by.uid, where)
	}
	return err
}

// endNomination ends the nomination of a pod whose victims could not be evicted, and tries the pod
// again.
func (s *loop) endNomination(uid types.UID) {
	s.cluster.Withdraw(uid)
	s.queue.EndNomination(uid, time.Now())
}
