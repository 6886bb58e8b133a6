package images

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestImages reports each image that has run once, the largest first.
func TestImages(t *testing.T) {
	var im Pulled
	pod := &corev1.Pod{}
	for i, image := range []string{"nginx:1.27", "redis", "nginx:1.27", "postgres@sha256:00"} {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Image: image, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
		if im.Add(pod); len(im.sizes) != []int{1, 2, 2, 3}[i] || im.Unreported.IsZero() {
			t.Errorf("%s: %v", image, im)
		}
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Image: "waits", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}}
	im.Add(pod)
	list := im.Report()
	if len(list) != 3 {
		t.Fatalf("%v", list)
	}
	for i, image := range list {
		if image.SizeBytes < 5<<20 || i > 0 && image.SizeBytes > list[i-1].SizeBytes || image.Names[len(image.Names)-1] == "waits" {
			t.Errorf("%v", list)
		}
	}
}
