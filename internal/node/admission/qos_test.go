package admission

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestQOSClass(t *testing.T) {
	list := func(cpu, memory string) corev1.ResourceList {
		l := corev1.ResourceList{}
		if cpu != "" {
			l["cpu"] = resource.MustParse(cpu)
		}
		if memory != "" {
			l["memory"] = resource.MustParse(memory)
		}
		return l
	}
	for _, tc := range []struct {
		requests, limits corev1.ResourceList
		want             corev1.PodQOSClass
	}{
		{nil, nil, corev1.PodQOSBestEffort},
		{list("1", ""), nil, corev1.PodQOSBurstable},
		{nil, list("1", ""), corev1.PodQOSBurstable},
		{nil, list("1", "1Gi"), corev1.PodQOSGuaranteed},
		{list("1", "1Gi"), list("1000m", "1024Mi"), corev1.PodQOSGuaranteed},
		{list("500m", "1Gi"), list("1", "1Gi"), corev1.PodQOSBurstable},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{}}}}
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: tc.requests, Limits: tc.limits}
		if got := QOSClass(pod); got != tc.want {
			t.Errorf("requests %v, limits %v: %s, want %s", tc.requests, tc.limits, got, tc.want)
		}
	}
}
