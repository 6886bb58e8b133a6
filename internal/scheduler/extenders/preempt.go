package extenders

import (
	"context"
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// Victims are the pods that would leave a node for a preemption.
type Victims struct {
	Pods       []*corev1.Pod
	Violations int64 // how many disruption budgets they violate
}

// Preempt lets extenders choose among the nodes of a preemption, by name, and among their victims. The extenders are those that
// are interested in the pod; onNode returns the pods of a node by UID.
func Preempt(ctx context.Context, all []*Extender, pod *corev1.Pod, nodes map[string]Victims, onNode func(node, uid string) *corev1.Pod, log *slog.Logger) (map[string]Victims, error) {
	for _, e := range all {
		if e.PreemptVerb == "" || len(nodes) == 0 {
			continue
		}
		left, err := e.preempt(ctx, pod, nodes, onNode)
		switch {
		case err == nil:
			nodes = left
		case !e.Ignores(err, pod, log):
			return nil, err
		}
	}
	return nodes, nil
}

func (e *Extender) preempt(ctx context.Context, pod *corev1.Pod, nodes map[string]Victims, onNode func(node, uid string) *corev1.Pod) (map[string]Victims, error) {
	question := &extenderv1.ExtenderPreemptionArgs{Pod: pod}
	if e.NodeCacheCapable {
		question.NodeNameToMetaVictims = map[string]*extenderv1.MetaVictims{}
	} else {
		question.NodeNameToVictims = map[string]*extenderv1.Victims{}
	}
	for name, v := range nodes {
		if !e.NodeCacheCapable {
			question.NodeNameToVictims[name] = &extenderv1.Victims{Pods: v.Pods, NumPDBViolations: v.Violations}
			continue
		}
		meta := &extenderv1.MetaVictims{NumPDBViolations: v.Violations}
		for _, victim := range v.Pods {
			meta.Pods = append(meta.Pods, &extenderv1.MetaPod{UID: string(victim.UID)})
		}
		question.NodeNameToMetaVictims[name] = meta
	}
	var answer extenderv1.ExtenderPreemptionResult
	if err := e.call(ctx, e.PreemptVerb, question, &answer); err != nil {
		return nil, err
	}
	left := map[string]Victims{}
	for name, meta := range answer.NodeNameToMetaVictims {
		if _, asked := nodes[name]; !asked {
			return nil, fmt.Errorf("extender: %v claims to preempt pods on node %v, which it was not asked about", e.URLPrefix, name)
		}
		if meta == nil || len(meta.Pods) == 0 {
			if e.Ignorable {
				continue
			}
			return nil, fmt.Errorf("expected at least one victim pod on node %q", name)
		}
		v := Victims{Violations: meta.NumPDBViolations}
		for _, victim := range meta.Pods {
			found := onNode(name, victim.UID)
			if found == nil {
				return nil, fmt.Errorf("extender: %v claims to preempt pod (UID: %v) on node: %v, but the pod is not found on that node", e.URLPrefix, victim.UID, name)
			}
			v.Pods = append(v.Pods, found)
		}
		left[name] = v
	}
	return left, nil
}
