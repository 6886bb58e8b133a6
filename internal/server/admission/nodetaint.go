package admission

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// TaintNodesByCondition taints every new node as not ready, so that no pod is bound to it before the node lifecycle
// controller has seen it ready. Without that controller the taint stays, and only pods that tolerate it are
// scheduled.
type TaintNodesByCondition struct{}

// Name implements Plugin.
func (TaintNodesByCondition) Name() string { return "TaintNodesByCondition" }

// Admit implements Mutator.
func (TaintNodesByCondition) Admit(_ context.Context, r *Request) error {
	if !r.on(Create, core("nodes")) {
		return nil
	}
	node := r.Object.(*corev1.Node)
	notReady := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	if !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&notReady) }) {
		node.Spec.Taints = append(node.Spec.Taints, notReady)
	}
	return nil
}
