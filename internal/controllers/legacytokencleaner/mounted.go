package legacytokencleaner

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/poduses"
)

// mounted reports whether a pod of the namespace uses a Secret.
func (c *cleaner) mounted(s *corev1.Secret) bool {
	return slices.ContainsFunc(c.pods.Store().List(s.Namespace), func(p *corev1.Pod) bool {
		return slices.Contains(poduses.Secrets(p), s.Name)
	})
}
