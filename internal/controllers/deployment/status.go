package deployment

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"fairlead.dev/controller"
)

// writeStatus computes the status from the sets and writes it if it differs from the one read. It requeues the
// Deployment if the result depends on time.
func (p *pass) writeStatus() (controller.Result, error) {
	now := time.Now()
	status := statusFrom(p.d, p.every(), p.new)
	if p.rollingOut {
		judgeProgress(p.d, &status, p.newName(), now)
		copyFailure(&status, p.new, p.old)
	}
	if p.revised || !equality.Semantic.DeepEqual(p.was, status) {
		p.d.Status = status
		if _, err := p.c.all.API.Namespace(p.d.Namespace).UpdateStatus(p.ctx, p.d); err != nil {
			return controller.Result{}, err
		}
	}
	if !p.rollingOut {
		return controller.Result{}, nil
	}
	return controller.Result{RequeueAfter: deadlineIn(p.d, &status, now)}, nil
}

func (p *pass) newName() string {
	if p.new == nil {
		return ""
	}
	return p.new.Name
}

// statusFrom sums up the sets' status. Conditions are carried over, with Available updated.
func statusFrom(d *appsv1.Deployment, all []*appsv1.ReplicaSet, newSet *appsv1.ReplicaSet) appsv1.DeploymentStatus {
	s := appsv1.DeploymentStatus{
		ObservedGeneration:  d.Generation,
		Replicas:            total(all, existing),
		ReadyReplicas:       total(all, ready),
		AvailableReplicas:   total(all, available),
		TerminatingReplicas: terminating(all),
		CollisionCount:      d.Status.CollisionCount,
	}
	if newSet != nil {
		s.UpdatedReplicas = existing(newSet)
	}
	s.UnavailableReplicas = max(0, total(all, size)-s.AvailableReplicas)
	s.Conditions = append(s.Conditions, d.Status.Conditions...)
	if s.AvailableReplicas >= replicasOf(d)-maxUnavailable(d) {
		setCondition(&s, newCondition(appsv1.DeploymentAvailable, corev1.ConditionTrue, reasonEnough, "Deployment has minimum availability."))
	} else {
		setCondition(&s, newCondition(appsv1.DeploymentAvailable, corev1.ConditionFalse, reasonTooFew, "Deployment does not have minimum availability."))
	}
	return s
}

// terminating sums up the terminating pods. It returns nil if a synced set does not report them. A set that was
// never synced has 0 of them.
func terminating(all []*appsv1.ReplicaSet) *int32 {
	sum := int32(0)
	for _, rs := range all {
		switch {
		case rs.Status.TerminatingReplicas != nil:
			sum += *rs.Status.TerminatingReplicas
		case rs.Status.ObservedGeneration != 0:
			return nil
		}
	}
	return &sum
}

// copyFailure copies a set's ReplicaFailure condition, preferably the new set's.
func copyFailure(s *appsv1.DeploymentStatus, newSet *appsv1.ReplicaSet, old []*appsv1.ReplicaSet) {
	sets := old
	if newSet != nil {
		sets = append([]*appsv1.ReplicaSet{newSet}, old...)
	}
	for _, rs := range sets {
		for _, c := range rs.Status.Conditions {
			if c.Type == appsv1.ReplicaSetReplicaFailure {
				setCondition(s, appsv1.DeploymentCondition{
					Type:               appsv1.DeploymentReplicaFailure,
					Status:             c.Status,
					LastUpdateTime:     c.LastTransitionTime,
					LastTransitionTime: c.LastTransitionTime,
					Reason:             c.Reason,
					Message:            c.Message,
				})
				return
			}
		}
	}
	removeCondition(s, appsv1.DeploymentReplicaFailure)
}
