package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ephemeral starts the ephemeral containers of a pod and ends those whose commands have ended. All others run as
// long as the pod. They have no restarts and no readiness. It returns when to look again.
func ephemeral(pod *corev1.Pod, s *corev1.PodStatus, now time.Time) (next time.Time) {
	for i := range pod.Spec.EphemeralContainers {
		spec := (*corev1.Container)(&pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		c := ephemeralStatus(s, spec.Name)
		if c == nil {
			st := containerStatus(pod, spec, 0)
			st.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now)}
			s.EphemeralContainerStatuses = append(s.EphemeralContainerStatuses, st)
			c = &s.EphemeralContainerStatuses[len(s.EphemeralContainerStatuses)-1]
		}
		if c.State.Running == nil {
			continue
		}
		forever := scenario{}
		co := forever.lifespan(pod, spec, 0)
		switch end := co.endsAt(c.State.Running.StartedAt.Time); {
		case end.IsZero():
		case now.Before(end):
			next = Earlier(next, end)
		default:
			setTerminated(pod, spec, c, co.exit, c.State.Running.StartedAt, now)
			c.Started = nil
		}
	}
	return next
}

func ephemeralStatus(s *corev1.PodStatus, name string) *corev1.ContainerStatus {
	for i := range s.EphemeralContainerStatuses {
		if c := &s.EphemeralContainerStatuses[i]; c.Name == name {
			return c
		}
	}
	return nil
}

func ephemeralSpec(pod *corev1.Pod, name string) *corev1.Container {
	for i := range pod.Spec.EphemeralContainers {
		if e := &pod.Spec.EphemeralContainers[i]; e.Name == name {
			return (*corev1.Container)(&e.EphemeralContainerCommon)
		}
	}
	return nil
}
