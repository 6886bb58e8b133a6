package lifecycle

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestImageThatAsksToFail(t *testing.T) {
	for image, want := range map[string]int32{
		"nginx": 0, "failover": 0, "fail": 1, "fail:latest": 1, "registry.example.com:5000/team/crash-and-fail:3": 3,
		"fail@sha256:00": 1, "example.com/fail/nginx:2": 0, "fail:0": 1, "fail:300": 1,
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyAlways, Containers: []corev1.Container{{Image: "redis"}, {Image: image}}}}
		if s := newScenario(pod, nil, 0, time.Second); s.exitCode != want || s.ends != (want != 0) {
			t.Errorf("%s: ends %v with %d, want %d", image, s.ends, s.exitCode, want)
		}
	}
}
