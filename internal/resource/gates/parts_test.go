package gates

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestParts drops image volumes with their mounts, restart policies of containers that are no sidecars, and a stop signal
// with the lifecycle that has no more.
func TestParts(t *testing.T) {
	signal := corev1.SIGUSR1
	pod := func() *corev1.Pod {
		always, never := corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever
		return &corev1.Pod{Spec: corev1.PodSpec{
			Volumes:        []corev1.Volume{{Name: "image", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{}}}, {Name: "other"}},
			InitContainers: []corev1.Container{{Name: "sidecar", RestartPolicy: &always}, {Name: "init", RestartPolicy: &never}},
			Containers:     []corev1.Container{{RestartPolicy: &always, Lifecycle: &corev1.Lifecycle{StopSignal: &signal}, VolumeMounts: []corev1.VolumeMount{{Name: "other"}, {Name: "image"}}}},
		}}
	}
	drop := dropOf(allOff, pod())
	got := pod()
	drop(got, nil)
	want := pod()
	want.Spec.Volumes = want.Spec.Volumes[1:]
	want.Spec.InitContainers[1].RestartPolicy = nil
	want.Spec.Containers[0].RestartPolicy, want.Spec.Containers[0].Lifecycle = nil, nil
	want.Spec.Containers[0].VolumeMounts = want.Spec.Containers[0].VolumeMounts[:1]
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a create: %s", diff)
	}
	got = pod()
	drop(got, pod())
	if diff := cmp.Diff(pod(), got); diff != "" {
		t.Errorf("an update of a pod that has them: %s", diff)
	}
}
