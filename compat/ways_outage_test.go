package compat

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// outage: a node becomes unreachable and comes back. It runs alone on the nodes.
func outage(p *place) {
	d := template("web", "web:1")
	d.Spec.Tolerations = []corev1.Toleration{
		{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](1)}}
	d.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "node-3"}
	p.must(p.c.AppsV1().ReplicaSets(p.ns).Create(p.ctx, &appsv1.ReplicaSet{ObjectMeta: named("web"), Spec: appsv1.ReplicaSetSpec{
		Replicas: ptr.To[int32](1), Selector: selecting("web"), Template: d}}, metav1.CreateOptions{}))
	see(p, "replicasets", "web", "a pod on the node", func(rs *appsv1.ReplicaSet) bool { return rs.Status.AvailableReplicas == 1 })
	stays := &corev1.Pod{ObjectMeta: named("stays"), Spec: podSpec("web:1")}
	stays.Spec.NodeName = "node-3"
	p.must(p.c.CoreV1().Pods(p.ns).Create(p.ctx, stays, metav1.CreateOptions{}))
	see(p, "pods", "stays", "running", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning })
	going := p.pods("web")[0]
	mark := func(value string) {
		p.Helper()
		p.must(p.c.CoreV1().Nodes().Patch(p.ctx, "node-3", types.MergePatchType, []byte(`{"metadata":{"annotations":{"fairlead.dev/outage":`+value+`}}}`), metav1.PatchOptions{}))
	}
	node := func(what string, want func(*corev1.Node) bool) {
		p.Helper()
		inCluster := *p
		inCluster.ns = ""
		n := see(&inCluster, "nodes", "node-3", what, want)
		for _, c := range sortedBy(n.Status.Conditions, func(c corev1.NodeCondition) string { return string(c.Type) }) {
			p.saw("%s: %s", what, condition(c.Type, c.Status, c.Reason, c.Message))
		}
		for _, t := range sortedBy(n.Spec.Taints, func(t corev1.Taint) string { return t.Key + string(t.Effect) }) {
			p.saw("%s: taint %s %s, since %v", what, t.Key, t.Effect, t.TimeAdded != nil)
		}
	}
	has := func(n *corev1.Node, effect corev1.TaintEffect) bool {
		return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnreachable && t.Effect == effect })
	}
	mark(`"true"`)
	node("dark", func(n *corev1.Node) bool {
		return has(n, corev1.TaintEffectNoSchedule) && has(n, corev1.TaintEffectNoExecute)
	})
	pod := see(p, "pods", "stays", "not ready", func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse
		})
	})
	pods := func(what string, pod *corev1.Pod) {
		for _, c := range sortedBy(pod.Status.Conditions, func(c corev1.PodCondition) string { return string(c.Type) }) {
			p.saw("%s: %s", what, condition(c.Type, c.Status, c.Reason, c.Message))
		}
		p.saw("%s: %s %q %q, deleted %v", what, pod.Status.Phase, pod.Status.Reason, pod.Status.Message, pod.DeletionTimestamp != nil)
	}
	pods("stays", pod)
	evicted := see(p, "pods", going.Name, "evicted", func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	pods("goes", evicted)
	p.event("Pod", "stays", "NodeNotReady", "")
	p.event("Pod", going.Name, "TaintManagerEviction", "")
	e := *p
	e.ns = "default"
	e.record = nil
	e.event("Node", "node-3", "NodeNotReady", "")
	p.record = append(p.record, e.record...)
	mark("null")
	node("back", func(n *corev1.Node) bool { return len(n.Spec.Taints) == 0 })
	p.away("pods", going.Name)
	pods("stays", see(p, "pods", "stays", "ready again", func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
	}))
	see(p, "replicasets", "web", "a pod on the node", func(rs *appsv1.ReplicaSet) bool { return rs.Status.AvailableReplicas == 1 })

}
