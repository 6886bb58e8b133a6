package deployment

import (
	"cmp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
)

// size returns the desired number of replicas of a set.
func size(rs *appsv1.ReplicaSet) int32 { return ptr.Deref(rs.Spec.Replicas, 1) }

func replicasOf(d *appsv1.Deployment) int32 { return ptr.Deref(d.Spec.Replicas, 1) }

func total(sets []*appsv1.ReplicaSet, count func(*appsv1.ReplicaSet) int32) (n int32) {
	for _, rs := range sets {
		n += count(rs)
	}
	return n
}

func existing(rs *appsv1.ReplicaSet) int32  { return rs.Status.Replicas }
func ready(rs *appsv1.ReplicaSet) int32     { return rs.Status.ReadyReplicas }
func available(rs *appsv1.ReplicaSet) int32 { return rs.Status.AvailableReplicas }

// active keeps the sets that should have replicas.
func active(sets []*appsv1.ReplicaSet) []*appsv1.ReplicaSet {
	var out []*appsv1.ReplicaSet
	for _, rs := range sets {
		if size(rs) > 0 {
			out = append(out, rs)
		}
	}
	return out
}

// byAge orders sets from the oldest to the youngest.
func byAge(a, b *appsv1.ReplicaSet) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// sameTemplate compares two pod templates, ignoring the hash label that the controller adds.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	x, y := *a, *b
	x.Labels, y.Labels = withoutHash(a.Labels), withoutHash(b.Labels)
	return equality.Semantic.DeepEqual(&x, &y)
}

func withoutHash(labels map[string]string) map[string]string {
	if _, ok := labels[appsv1.DefaultDeploymentUniqueLabelKey]; !ok {
		return labels
	}
	return withLabel(labels, appsv1.DefaultDeploymentUniqueLabelKey, "")
}

// withLabel returns a copy of the labels with one set, or removed if its value is empty.
func withLabel(labels map[string]string, key, value string) map[string]string {
	out := make(map[string]string, len(labels)+1)
	for k, v := range labels {
		out[k] = v
	}
	if value == "" {
		delete(out, key)
	} else {
		out[key] = value
	}
	return out
}
