package eviction

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/quota"
)

// OverLimit returns the message of a pod that uses more ephemeral storage than its limits allow, "" if it does not:
// first the sum of
// the limits of its containers, then that of each container.
func OverLimit(p *Pod) string {
	const name = corev1.ResourceEphemeralStorage
	if limit, ok := (quota.Sum{}).Limits(p.Pod)[name]; ok && quantity(name, p.Uses().Storage).Cmp(limit) > 0 {
		return fmt.Sprintf("Pod ephemeral local storage usage exceeds the total limit of containers %s. ", limit.String())
	}
	for _, c := range p.Containers {
		for i := range p.Spec.Containers {
			limit, ok := p.Spec.Containers[i].Resources.Limits[name]
			if ok && !limit.IsZero() && p.Spec.Containers[i].Name == c.Name && quantity(name, c.Storage).Cmp(limit) > 0 {
				return fmt.Sprintf("Container %s exceeded its local ephemeral storage limit %q. ", c.Name, limit.String())
			}
		}
	}
	return ""
}
