package placement

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
)

// splitByBudget separates the pods whose eviction would violate a disruption budget from the
// others. A budget that allows k disruptions is violated by the k+1st.
func splitByBudget(c *cache.Cluster, pods []*cache.PodInfo) (guarded, free []*cache.PodInfo) {
	allowed := map[types.UID]int32{}
	for _, p := range pods {
		broken := false
		for _, b := range c.Objects.Budgets(p.Pod.Namespace) {
			s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
			if err != nil || len(p.Pod.Labels) == 0 || s.Empty() || !s.Matches(labels.Set(p.Pod.Labels)) {
				continue
			}
			if _, disrupted := b.Status.DisruptedPods[p.Pod.Name]; disrupted {
				continue
			}
			if _, seen := allowed[b.UID]; !seen {
				allowed[b.UID] = b.Status.DisruptionsAllowed
			}
			allowed[b.UID]--
			broken = broken || allowed[b.UID] < 0
		}
		if broken {
			guarded = append(guarded, p)
		} else {
			free = append(free, p)
		}
	}
	return guarded, free
}
