package replicaset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol/replicas"
)

// New returns the ReplicaSet controller.
func New(env controller.Env) controller.Runner {
	return replicas.New(env, replicas.Kind[*appsv1.ReplicaSet]{
		Name:        "replicaset",
		Component:   "replicaset-controller",
		GVK:         appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
		View:        view,
		WithStatus:  withStatus,
		Terminating: true,
	})
}

func view(rs *appsv1.ReplicaSet) (replicas.View, error) {
	selector, err := metav1.LabelSelectorAsSelector(rs.Spec.Selector)
	return replicas.View{
		Replicas: int(ptr.Deref(rs.Spec.Replicas, 1)),
		MinReady: time.Duration(rs.Spec.MinReadySeconds) * time.Second,
		Selector: selector,
		Template: &rs.Spec.Template,
		Status:   rs.Status,
	}, err
}

func withStatus(rs *appsv1.ReplicaSet, s appsv1.ReplicaSetStatus) *appsv1.ReplicaSet {
	changed := *rs // only the status differs, and it is replaced as a whole
	changed.Status = s
	return &changed
}
