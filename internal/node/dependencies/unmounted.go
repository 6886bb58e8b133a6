package dependencies

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Overdue returns the message of a kubelet that has waited for the volumes of a pod in vain: it names those that are not mounted and
// those that are not attached. It is empty if there are none, or if a volume cannot be processed at all, which its own message says.
func Overdue(pod *corev1.Pod, find Find) string {
	unmounted, unattached := []string{}, []string{}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		m, err := csi(pod, v, find)
		switch {
		case err != nil:
			return ""
		case m != nil && m.handle != "" && m.attached(pod, find) != nil:
			unmounted, unattached = append(unmounted, v.Name), append(unattached, v.Name)
		case m.ready(pod, find) != nil || content(pod, v, find) != nil:
			unmounted = append(unmounted, v.Name)
		}
	}
	if len(unmounted) == 0 {
		return ""
	}
	slices.Sort(unmounted)
	slices.Sort(unattached)
	return fmt.Sprintf("Unable to attach or mount volumes: unmounted volumes=%v, unattached volumes=%v, failed to process volumes=[]: context deadline exceeded", unmounted, unattached)
}
