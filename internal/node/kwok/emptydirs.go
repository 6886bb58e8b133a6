package kwok

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/node/images"
)

// EmptyDirAnnotation declares how much is in a pod's emptyDir volumes, by their names: cache=2Gi,tmp=10Mi.
const EmptyDirAnnotation = "fairlead.dev/usage-empty-dirs"

// EmptyDirs returns how many bytes are in each emptyDir volume of a pod: as annotated, else the space that the running
// containers take which mount it; nil for a pod without such volumes.
func (d *Definitions) EmptyDirs(pod *corev1.Pod) map[string]int64 {
	var all map[string]int64
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.EmptyDir == nil {
			continue
		}
		if all == nil {
			all = map[string]int64{}
		}
		used, declared := annotatedDir(pod, v.Name)
		if !declared {
			used = d.written(pod, v.Name)
		}
		all[v.Name] = used
	}
	return all
}

// annotatedDir returns the annotated usage of a volume.
func annotatedDir(pod *corev1.Pod, volume string) (used int64, ok bool) {
	for item := range strings.SplitSeq(pod.Annotations[EmptyDirAnnotation], ",") {
		name, amount, _ := strings.Cut(strings.TrimSpace(item), "=")
		if name != volume {
			continue
		}
		if q, err := resource.ParseQuantity(amount); err == nil && q.Sign() >= 0 {
			return q.Value(), true
		}
	}
	return 0, false
}

// written returns the bytes that the running containers have written to a volume.
func (d *Definitions) written(pod *corev1.Pod, volume string) (sum int64) {
	of := func(specs []corev1.Container, statuses []corev1.ContainerStatus) {
		for i := range min(len(specs), len(statuses)) {
			mounts := slices.ContainsFunc(specs[i].VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume })
			if mounts && statuses[i].State.Running != nil {
				sum += d.Load(images.EmptyDir(volume), pod, &specs[i])
			}
		}
	}
	of(pod.Spec.InitContainers, pod.Status.InitContainerStatuses)
	of(pod.Spec.Containers, pod.Status.ContainerStatuses)
	return sum
}
