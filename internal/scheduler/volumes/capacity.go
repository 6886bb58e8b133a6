package volumes

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/internal/scheduler/cache"
)

// isTopologyAllowed reports whether volumes can be provisioned for a node, by the allowed
// topologies of a class. An empty list allows every node; an empty term matches no node.
func isTopologyAllowed(allowed []corev1.TopologySelectorTerm, node *corev1.Node) bool {
	if len(allowed) == 0 {
		return true
	}
	return slices.ContainsFunc(allowed, func(t corev1.TopologySelectorTerm) bool {
		for _, e := range t.MatchLabelExpressions {
			if v, ok := node.Labels[e.Key]; !ok || !slices.Contains(e.Values, v) {
				return false
			}
		}
		return len(t.MatchLabelExpressions) > 0
	})
}

// capacityFor reports whether a volume for the claim can be provisioned on the node, and returns the capacity that its
// driver publishes for that; nil if the driver publishes none.
func capacityFor(c *cache.Cluster, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, node *corev1.Node) (*storagev1.CSIStorageCapacity, bool) {
	size, sized := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	driver, ok := c.Objects.CSIDriver(class.Provisioner)
	if !sized || !ok || driver.Spec.StorageCapacity == nil || !*driver.Spec.StorageCapacity {
		return nil, true
	}
	all := c.Objects.Capacities(class.Name)
	i := slices.IndexFunc(all, func(s *storagev1.CSIStorageCapacity) bool {
		most := s.MaximumVolumeSize
		if most == nil {
			most = s.Capacity
		}
		if most == nil || most.Cmp(size) < 0 || s.NodeTopology == nil {
			return false
		}
		selector, err := metav1.LabelSelectorAsSelector(s.NodeTopology)
		return err == nil && selector.Matches(labels.Set(node.Labels))
	})
	if i < 0 {
		return nil, false
	}
	return all[i], true
}
