package node

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"fairlead.dev/internal/quota"
)

// refusal says why a node does not give a pod what it asks for. The zero value says that it does.
type refusal struct {
	reason, message string
	doubtful        bool // the Node may say otherwise
	waits           bool // others end to make room, and then it is to be asked again
}

// errand is what a pod comes to its node for.
type errand bool

const (
	arrival errand = false // it has just been bound; whoever has bound it need not have looked
	resizal errand = true  // it runs, and is to have other resources
)

// admit decides whether a pod gets what it comes for; its arrival is decided once. The Node itself is
// read only where what the node knows of it is not enough.
func (k *kubelet) admit(ctx context.Context, pod *corev1.Pod, why errand) (refusal, error) {
	if !looksAtLabels(pod) {
		own := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: k.name, Labels: map[string]string{
			corev1.LabelHostname: k.name, corev1.LabelOSStable: "linux",
		}}}
		own.Status.Allocatable = k.allocatable()
		if no := k.decide(pod, why, own, false); !no.doubtful {
			return no, nil
		}
	}
	node, err := k.nodes.Get(ctx, k.name)
	if err != nil {
		return refusal{}, err
	}
	return k.decide(pod, why, node, true), nil
}

// looksAtLabels says whether a pod's affinity is to labels of nodes, and not to their names alone.
func looksAtLabels(pod *corev1.Pod) bool {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	return slices.ContainsFunc(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return len(t.MatchExpressions) > 0
	})
}

// decide takes a pod or says why not, as a kubelet does with its first reason. For a critical pod that
// lacks nothing but room, others are ended, if the node is sure of it.
func (k *kubelet) decide(asked *corev1.Pod, why errand, node *corev1.Node, sure bool) refusal {
	if os, ok := asked.Labels[corev1.LabelOSStable]; ok && os != string(corev1.Linux) {
		return refusal{reason: "PodOSSelectorNodeLabelDoesNotMatch", message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"}
	}
	if asked.Spec.OS != nil && asked.Spec.OS.Name != corev1.Linux {
		return refusal{reason: "PodOSNotSupported", message: "Failed to admit pod as the OS field doesn't match node OS"}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.mu.pods[asked.UID]
	if p == nil || p.taken && why == arrival {
		return refusal{}
	}
	wants := p.loads()
	if why == resizal {
		wants = amounts(quota.Sum{Overhead: true}.Requests(asked))
	}
	short := k.shortages(asked.UID, wants, node.Status.Allocatable)
	if short != nil && !(sure && isCritical(asked)) {
		return refusal{reason: "OutOf" + string(short[0].name), message: short[0].String(), doubtful: true}
	}
	if no := k.unsuited(asked, node); no.reason != "" {
		return no
	}
	if short != nil {
		return k.makeRoom(asked, short)
	}
	p.taken = true
	return refusal{}
}

// unsuited says what speaks against a pod besides room. The lock is held.
func (k *kubelet) unsuited(asked *corev1.Pod, node *corev1.Node) refusal {
	predicate := func(name, why string) refusal {
		return refusal{reason: name, message: "Predicate " + name + " failed: " + why}
	}
	if fits, err := nodeaffinity.GetRequiredNodeAffinity(asked).Match(node); err != nil || !fits {
		no := predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
		no.doubtful = true
		return no
	}
	if ports := hostPorts(asked); ports != nil {
		taken := false
		k.eachTaken(asked.UID, func(other *pod) { taken = taken || clash(ports, hostPorts(other.view())) })
		if taken {
			return predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports")
		}
	}
	if slices.ContainsFunc(k.mu.taints, func(t corev1.Taint) bool { return !tolerated(asked, &t) }) {
		return predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate")
	}
	return refusal{}
}

func tolerated(pod *corev1.Pod, taint *corev1.Taint) bool {
	return slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
		return t.ToleratesTaint(klog.Logger{}, taint, false)
	})
}

// expelling are the taints of a node by which it takes no pods that do not tolerate them.
func expelling(n *corev1.Node) (taints []corev1.Taint) {
	for _, t := range n.Spec.Taints {
		if t.Effect == corev1.TaintEffectNoExecute {
			taints = append(taints, t)
		}
	}
	return taints
}

// hostPorts are the ports of its node that a pod takes.
func hostPorts(pod *corev1.Pod) (ports []corev1.ContainerPort) {
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort > 0 {
				ports = append(ports, p)
			}
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	for i := range pod.Spec.InitContainers {
		if isSidecar(&pod.Spec.InitContainers[i]) {
			add(&pod.Spec.InitContainers[i])
		}
	}
	return ports
}

// clash says whether two pods take the same port; no address is all of them.
func clash(a, b []corev1.ContainerPort) bool {
	everywhere := func(ip string) bool { return ip == "" || ip == "0.0.0.0" }
	for _, p := range a {
		for _, q := range b {
			if p.HostPort == q.HostPort && cmp.Or(p.Protocol, corev1.ProtocolTCP) == cmp.Or(q.Protocol, corev1.ProtocolTCP) &&
				(p.HostIP == q.HostIP || everywhere(p.HostIP) || everywhere(q.HostIP)) {
				return true
			}
		}
	}
	return false
}
