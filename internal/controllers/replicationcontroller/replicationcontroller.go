package replicationcontroller

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol/replicas"
)

// New returns the ReplicationController controller.
func New(env controller.Env) controller.Runner {
	return replicas.New(env, replicas.Kind[*corev1.ReplicationController]{
		Name:       "replicationcontroller",
		Component:  "replication-controller",
		GVK:        corev1.SchemeGroupVersion.WithKind("ReplicationController"),
		View:       view,
		WithStatus: withStatus,
	})
}

var noTemplate corev1.PodTemplateSpec

func view(rc *corev1.ReplicationController) (replicas.View, error) {
	template := rc.Spec.Template
	if template == nil {
		template = &noTemplate
	}
	selector := labels.Nothing() // an empty selector must not mean every pod
	if len(rc.Spec.Selector) > 0 {
		selector = labels.SelectorFromSet(rc.Spec.Selector)
	}
	return replicas.View{
		Replicas: int(ptr.Deref(rc.Spec.Replicas, 1)),
		MinReady: time.Duration(rc.Spec.MinReadySeconds) * time.Second,
		Selector: selector,
		Template: template,
		Status:   statusOf(rc),
	}, nil
}

func statusOf(rc *corev1.ReplicationController) appsv1.ReplicaSetStatus {
	s := appsv1.ReplicaSetStatus{
		Replicas:             rc.Status.Replicas,
		FullyLabeledReplicas: rc.Status.FullyLabeledReplicas,
		ReadyReplicas:        rc.Status.ReadyReplicas,
		AvailableReplicas:    rc.Status.AvailableReplicas,
		ObservedGeneration:   rc.Status.ObservedGeneration,
	}
	for _, c := range rc.Status.Conditions {
		s.Conditions = append(s.Conditions, appsv1.ReplicaSetCondition{
			Type:               appsv1.ReplicaSetConditionType(c.Type),
			Status:             c.Status,
			LastTransitionTime: c.LastTransitionTime,
			Reason:             c.Reason,
			Message:            c.Message,
		})
	}
	return s
}

func withStatus(rc *corev1.ReplicationController, s appsv1.ReplicaSetStatus) *corev1.ReplicationController {
	changed := *rc
	changed.Status = corev1.ReplicationControllerStatus{
		Replicas:             s.Replicas,
		FullyLabeledReplicas: s.FullyLabeledReplicas,
		ReadyReplicas:        s.ReadyReplicas,
		AvailableReplicas:    s.AvailableReplicas,
		ObservedGeneration:   s.ObservedGeneration,
	}
	for _, c := range s.Conditions {
		changed.Status.Conditions = append(changed.Status.Conditions, corev1.ReplicationControllerCondition{
			Type:               corev1.ReplicationControllerConditionType(c.Type),
			Status:             c.Status,
			LastTransitionTime: c.LastTransitionTime,
			Reason:             c.Reason,
			Message:            c.Message,
		})
	}
	return &changed
}
