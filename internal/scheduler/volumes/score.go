package volumes

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// Score favours nodes by the utilization of the storage that the pod's unbound claims would get there: of the volumes that
// they would be bound to or, if all would be provisioned, of the capacity that a CSI driver publishes. Source: KEP 4049.
type Score struct {
	// Shape is the score by utilization.
	Shape framework.Shape
}

// Name is the plugin's name.
func (Score) Name() string { return "VolumeBinding" }

// PreScore implements framework.Score.
func (s Score) PreScore(c *cache.Cluster, p *cache.PodInfo, _ []*cache.NodeInfo) framework.NodeScorer {
	if len(p.Claims) == 0 {
		return nil
	}
	w, v := claimsOf(c, p)
	if !v.IsSuccess() || len(w.delayed) == 0 {
		return nil
	}
	return framework.ScoreFunc(func(n *cache.NodeInfo) int64 {
		choices, _ := w.choose(c, n)
		return s.points(usage(c, n, choices))
	})
}

// space is the storage of one class, in bytes.
type space struct{ requested, capacity int64 }

// usage returns the storage that the choices use on a node, by class.
func usage(c *cache.Cluster, n *cache.NodeInfo, choices []cache.ClaimBinding) map[string]space {
	volumes, provisioned := map[string]space{}, map[string]space{}
	for _, choice := range choices {
		request := choice.Claim.Spec.Resources.Requests[corev1.ResourceStorage]
		if pv := choice.Volume; pv != nil {
			is := volumes[pv.Spec.StorageClassName]
			size := pv.Spec.Capacity[corev1.ResourceStorage]
			volumes[pv.Spec.StorageClassName] = space{is.requested + request.Value(), is.capacity + size.Value()}
			continue
		}
		class, ok := c.Objects.Class(classOf(choice.Claim))
		if !ok {
			continue
		}
		if published, _ := capacityFor(c, choice.Claim, class, n.Node); published != nil && published.Capacity != nil {
			// All claims of the class share the capacity.
			provisioned[class.Name] = space{provisioned[class.Name].requested + request.Value(), published.Capacity.Value()}
		}
	}
	if len(volumes) > 0 {
		return volumes
	}
	return provisioned
}

// points is the mean score of the classes.
func (s Score) points(classes map[string]space) int64 {
	if len(classes) == 0 {
		return 0
	}
	var sum int64
	for _, is := range classes {
		use := int64(100)
		if is.capacity > 0 && is.requested <= is.capacity {
			use = is.requested * 100 / is.capacity
		}
		sum += s.Shape.At(use)
	}
	return int64(math.Round(float64(sum) / float64(len(classes))))
}
