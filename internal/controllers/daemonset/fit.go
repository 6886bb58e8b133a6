package daemonset

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// verdict is the decision about a node.
type verdict struct {
	run  bool // a pod should run there
	stay bool // an existing pod may stay
}

// fit decides on which nodes a set's pods run. It is built once a pass, because it parses the node affinity.
type fit struct {
	nodeName    string
	affinity    nodeaffinity.RequiredNodeAffinity
	tolerations []corev1.Toleration
}

func newFit(ds *appsv1.DaemonSet) fit {
	t := &ds.Spec.Template.Spec
	return fit{
		nodeName:    t.NodeName,
		affinity:    nodeaffinity.NewRequiredNodeAffinity(t.NodeSelector, t.Affinity),
		tolerations: tolerations(t),
	}
}

// on decides about a node; a nil node takes no pod.
func (f fit) on(node *corev1.Node) verdict {
	if node == nil || f.nodeName != "" && f.nodeName != node.Name {
		return verdict{}
	}
	if ok, err := f.affinity.Match(node); err != nil || !ok {
		return verdict{}
	}
	return verdict{
		run:  f.tolerates(node, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute),
		stay: f.tolerates(node, corev1.TaintEffectNoExecute),
	}
}

func (f fit) tolerates(node *corev1.Node, effects ...corev1.TaintEffect) bool {
	_, untolerated := scheduling.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, f.tolerations, func(t *corev1.Taint) bool {
		for _, e := range effects {
			if t.Effect == e {
				return true
			}
		}
		return false
	}, false)
	return !untolerated
}

// tolerations returns the tolerations of the template and those of every daemon: it is not evicted from a node in
// trouble, and runs on nodes that are cordoned or under pressure.
func tolerations(t *corev1.PodSpec) []corev1.Toleration {
	all := append([]corev1.Toleration(nil), t.Tolerations...)
	add := func(key string, effect corev1.TaintEffect) {
		want := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
		for i := range all {
			if all[i].MatchToleration(&want) {
				all[i] = want
				return
			}
		}
		all = append(all, want)
	}
	add(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
	if t.HostNetwork {
		add(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)
	}
	return all
}
