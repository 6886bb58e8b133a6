package replicas

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/controllers/podcontrol"
)

// counted is a new status, and when the next ready pod becomes available (zero if never).
type counted struct {
	status appsv1.ReplicaSetStatus
	next   time.Duration
}

// count counts the active pods for the status.
func count(v View, active []*corev1.Pod, now time.Time) counted {
	c := counted{status: appsv1.ReplicaSetStatus{Replicas: int32(len(active))}}
	for _, p := range active {
		if bearsAll(p.Labels, v.Template.Labels) {
			c.status.FullyLabeledReplicas++
		}
		wait, ready := podcontrol.AvailableIn(p, v.MinReady, now)
		if !ready {
			continue
		}
		c.status.ReadyReplicas++
		if wait == 0 {
			c.status.AvailableReplicas++
		} else if c.next == 0 || wait < c.next {
			c.next = wait
		}
	}
	return c
}

func bearsAll(labels, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// failureCondition returns the status's conditions, with ReplicaFailure set if managing pods failed and removed if
// it did not.
func failureCondition(v View, active int, err error) []appsv1.ReplicaSetCondition {
	has := slices.ContainsFunc(v.Status.Conditions, isFailure)
	switch {
	case err != nil && !has:
		reason := ""
		if active < v.Replicas {
			reason = "FailedCreate"
		} else if active > v.Replicas {
			reason = "FailedDelete"
		}
		return append(slices.Clone(v.Status.Conditions), appsv1.ReplicaSetCondition{
			Type:               appsv1.ReplicaSetReplicaFailure,
			Status:             corev1.ConditionTrue,
			LastTransitionTime: metav1.Now(),
			Reason:             reason,
			Message:            err.Error(),
		})
	case err == nil && has:
		return slices.DeleteFunc(slices.Clone(v.Status.Conditions), isFailure)
	}
	return v.Status.Conditions
}

func isFailure(c appsv1.ReplicaSetCondition) bool { return c.Type == appsv1.ReplicaSetReplicaFailure }

func statusChanged(old, now appsv1.ReplicaSetStatus) bool {
	return !equality.Semantic.DeepEqual(old, now)
}
