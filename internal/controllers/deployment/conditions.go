package deployment

import (
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/condition"
)

// Reasons of the Progressing and Available conditions. kubectl and other clients compare them.
const (
	reasonSetUpdated   = "ReplicaSetUpdated"
	reasonCreateFailed = "ReplicaSetCreateError"
	reasonNewSet       = "NewReplicaSetCreated"
	reasonFoundSet     = "FoundNewReplicaSet"
	reasonSetAvailable = "NewReplicaSetAvailable"
	reasonTimedOut     = "ProgressDeadlineExceeded"
	reasonPaused       = "DeploymentPaused"
	reasonResumed      = "DeploymentResumed"
	reasonEnough       = "MinimumReplicasAvailable"
	reasonTooFew       = "MinimumReplicasUnavailable"
)

func newCondition(t appsv1.DeploymentConditionType, s corev1.ConditionStatus, reason, message string) appsv1.DeploymentCondition {
	now := metav1.Now()
	return appsv1.DeploymentCondition{Type: t, Status: s, LastUpdateTime: now, LastTransitionTime: now, Reason: reason, Message: message}
}

// deploymentCondition returns the status's condition of a type, or nil.
func deploymentCondition(s *appsv1.DeploymentStatus, t appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	return condition.Find(s.Conditions, func(c *appsv1.DeploymentCondition) bool { return c.Type == t })
}

// setCondition sets the condition unless the old one has the same status and reason, which is then kept with its
// times. The transition time changes only with the status.
func setCondition(s *appsv1.DeploymentStatus, c appsv1.DeploymentCondition) {
	if old := deploymentCondition(s, c.Type); old != nil && old.Status == c.Status {
		if old.Reason == c.Reason {
			return
		}
		c.LastTransitionTime = old.LastTransitionTime
	}
	removeCondition(s, c.Type)
	s.Conditions = append(s.Conditions, c)
}

// renewCondition is setCondition that also updates lastUpdateTime if status and reason are unchanged.
func renewCondition(s *appsv1.DeploymentStatus, c appsv1.DeploymentCondition) {
	if old := deploymentCondition(s, c.Type); old != nil && old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	removeCondition(s, c.Type)
	s.Conditions = append(s.Conditions, c)
}

func removeCondition(s *appsv1.DeploymentStatus, t appsv1.DeploymentConditionType) {
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == t })
}

// hasDeadline reports whether there is a progress deadline.
func hasDeadline(d *appsv1.Deployment) bool {
	return d.Spec.ProgressDeadlineSeconds != nil && *d.Spec.ProgressDeadlineSeconds != math.MaxInt32
}

// notePause records a pause or its end as a condition, so that the time of the pause does not count against the
// deadline. A missed deadline stays missed.
func (p *pass) notePause() {
	if !hasDeadline(p.d) {
		return
	}
	c := deploymentCondition(&p.d.Status, appsv1.DeploymentProgressing)
	if c != nil && c.Reason == reasonTimedOut {
		return
	}
	noted := c != nil && c.Reason == reasonPaused
	switch {
	case p.d.Spec.Paused && !noted:
		setCondition(&p.d.Status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, reasonPaused, "Deployment is paused"))
	case !p.d.Spec.Paused && noted:
		setCondition(&p.d.Status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, reasonResumed, "Deployment is resumed"))
	}
}
