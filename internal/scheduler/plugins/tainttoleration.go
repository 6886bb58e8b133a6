package plugins

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// taintToleration keeps pods off nodes with taints that they do not tolerate, and off NotReady
// nodes.
type taintToleration struct{}

func (taintToleration) Name() string { return "TaintToleration" }

func (taintToleration) PreFilter(_ *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	rejected := framework.Unresolvable("node(s) had untolerated taint(s)")
	return func(n *cache.NodeInfo) framework.Status {
		if !toleratesAll(p.Pod.Spec.Tolerations, n.NoScheduleTaints) {
			return rejected
		}
		return success
	}, success
}

func (taintToleration) EventsToRegister() framework.EventKind {
	return framework.NodeAdded | framework.NodeChanged
}

func (taintToleration) QueueingHint(p *cache.PodInfo, e *framework.ClusterEvent) bool {
	return toleratesAll(p.Pod.Spec.Tolerations, e.Node.NoScheduleTaints)
}

func toleratesAll(tolerations []corev1.Toleration, taints []corev1.Taint) bool {
	for i := range taints {
		if !tolerates(tolerations, &taints[i]) {
			return false
		}
	}
	return true
}

func tolerates(tolerations []corev1.Toleration, taint *corev1.Taint) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
		return t.ToleratesTaint(klog.Logger{}, taint, false)
	})
}

// taintScore favours nodes with few PreferNoSchedule taints that the pod does not tolerate.
type taintScore struct{}

func (taintScore) Name() string { return "TaintToleration" }

func (taintScore) PreScore(c *cache.Cluster, p *cache.PodInfo, _ []*cache.NodeInfo) framework.NodeScorer {
	if c.PreferNoScheduleNodes == 0 {
		return nil
	}
	return framework.ReversedScore(func(n *cache.NodeInfo) (k int64) {
		for i := range n.PreferNoScheduleTaints {
			if !tolerates(p.Pod.Spec.Tolerations, &n.PreferNoScheduleTaints[i]) {
				k++
			}
		}
		return k
	})
}
