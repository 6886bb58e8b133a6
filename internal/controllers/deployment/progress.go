package deployment

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// complete reports whether all replicas are new and available according to a status.
func complete(d *appsv1.Deployment, s *appsv1.DeploymentStatus) bool {
	n := replicasOf(d)
	return s.UpdatedReplicas == n && s.Replicas == n && s.AvailableReplicas == n && s.ObservedGeneration >= d.Generation
}

// progressed reports whether the rollout has advanced between two statuses: more new pods, fewer old ones, or more
// that are ready or available.
func progressed(was, is *appsv1.DeploymentStatus) bool {
	return is.UpdatedReplicas > was.UpdatedReplicas ||
		is.Replicas-is.UpdatedReplicas < was.Replicas-was.UpdatedReplicas ||
		is.ReadyReplicas > was.ReadyReplicas ||
		is.AvailableReplicas > was.AvailableReplicas
}

// judgeProgress sets the Progressing condition of the new status. d has the old status. A completed rollout stays
// complete until there is a new one.
func judgeProgress(d *appsv1.Deployment, s *appsv1.DeploymentStatus, newSet string, now time.Time) {
	if !hasDeadline(d) {
		removeCondition(s, appsv1.DeploymentProgressing)
		return
	}
	was := deploymentCondition(&d.Status, appsv1.DeploymentProgressing)
	if was != nil && was.Reason == reasonSetAvailable && s.Replicas == s.UpdatedReplicas {
		return
	}
	subject := fmt.Sprintf("ReplicaSet %q", newSet)
	if newSet == "" {
		subject = fmt.Sprintf("Deployment %q", d.Name)
	}
	switch {
	case complete(d, s):
		setCondition(s, newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, reasonSetAvailable, subject+" has successfully progressed."))
	case progressed(&d.Status, s):
		renewCondition(s, newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, reasonSetUpdated, subject+" is progressing."))
	case timedOut(d, s, now):
		setCondition(s, newCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse, reasonTimedOut, subject+" has timed out progressing."))
	}
}

// timedOut reports whether the last sign of progress is older than the deadline.
func timedOut(d *appsv1.Deployment, s *appsv1.DeploymentStatus, now time.Time) bool {
	c := deploymentCondition(s, appsv1.DeploymentProgressing)
	if c == nil || c.Reason == reasonSetAvailable {
		return false
	}
	return c.Reason == reasonTimedOut || c.LastUpdateTime.Add(deadline(d)).Before(now)
}

func deadline(d *appsv1.Deployment) time.Duration {
	return time.Duration(*d.Spec.ProgressDeadlineSeconds) * time.Second
}

// deadlineIn returns the time until the deadline must be checked, zero for never. Times in conditions are whole
// seconds, hence one more.
func deadlineIn(d *appsv1.Deployment, s *appsv1.DeploymentStatus, now time.Time) time.Duration {
	if !hasDeadline(d) || complete(d, s) {
		return 0
	}
	c := deploymentCondition(s, appsv1.DeploymentProgressing)
	if c == nil || c.Reason == reasonTimedOut || c.Reason == reasonSetAvailable {
		return 0
	}
	return max(0, c.LastUpdateTime.Add(deadline(d)).Sub(now)) + time.Second
}
