package eviction

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/quota"
)

// OverLimit returns the message of a pod that uses more ephemeral storage than its limits allow, "" if it does not: first the
// size of each emptyDir volume, then the sum of the limits of its containers, then the limit of each container.
func OverLimit(p *Pod) string {
	const name = corev1.ResourceEphemeralStorage
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if v.EmptyDir == nil || v.EmptyDir.SizeLimit == nil {
			continue
		}
		if limit := v.EmptyDir.SizeLimit; limit.Sign() > 0 && quantity(name, p.EmptyDirs[v.Name]).Cmp(*limit) > 0 {
			return fmt.Sprintf("Usage of EmptyDir volume %q exceeds the limit %q. ", v.Name, limit.String())
		}
	}
	if limit, ok := (quota.Sum{}).Limits(p.Pod)[name]; ok && quantity(name, p.Uses().Storage).Cmp(limit) > 0 {
		return fmt.Sprintf("Pod ephemeral local storage usage exceeds the total limit of containers %s. ", limit.String())
	}
	for _, c := range p.Containers {
		if limit := storageLimit(p.Pod, c.Name); !limit.IsZero() && quantity(name, c.Storage).Cmp(limit) > 0 {
			return fmt.Sprintf("Container %s exceeded its local ephemeral storage limit %q. ", c.Name, limit.String())
		}
	}
	return ""
}

// storageLimit returns the limit of a container's ephemeral storage; zero without one, and for an init container that
// ends before the others start.
func storageLimit(pod *corev1.Pod, container string) resource.Quantity {
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == container {
			return *c.Resources.Limits.StorageEphemeral()
		}
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.Name == container && admission.IsSidecar(c) {
			return *c.Resources.Limits.StorageEphemeral()
		}
	}
	return resource.Quantity{}
}
