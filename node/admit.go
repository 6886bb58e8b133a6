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

// admitResult is a node's answer to a pod that asks to be admitted or resized. The zero value admits it.
type admitResult struct {
	reason, message string
	needsNode       bool // labels or resources of the Node object may change the answer
	preempts        bool // other pods end first, and the pod is admitted after that
}

// admitAttempt is the reason for which a pod asks.
type admitAttempt bool

const (
	admitPod    admitAttempt = false // it has just been bound, perhaps not by a scheduler
	admitResize admitAttempt = true  // it runs, and its resources change
)

// admit decides whether a pod is admitted or resized; a pod is admitted once. It reads the Node object from the
// server only if the answer depends on that.
func (k *kubelet) admit(ctx context.Context, pod *corev1.Pod, why admitAttempt) (admitResult, error) {
	if !matchesNodeLabels(pod) {
		own := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: k.name, Labels: map[string]string{
			corev1.LabelHostname: k.name, corev1.LabelOSStable: "linux",
		}}}
		own.Status.Allocatable = k.allocatable()
		if no := k.decide(pod, why, own, false); !no.needsNode {
			return no, nil
		}
	}
	node, err := k.nodes.Get(ctx, k.name)
	if err != nil {
		return admitResult{}, err
	}
	return k.decide(pod, why, node, true), nil
}

// matchesNodeLabels reports whether the affinity of a pod selects nodes by labels, and not by their names alone.
func matchesNodeLabels(pod *corev1.Pod) bool {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	return slices.ContainsFunc(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return len(t.MatchExpressions) > 0
	})
}

// decide admits a pod or returns the first reason against it, in a kubelet's order. If only resources are missing
// for a critical pod, it preempts others, provided that node is the Node object.
func (k *kubelet) decide(asked *corev1.Pod, why admitAttempt, node *corev1.Node, sure bool) admitResult {
	if os, ok := asked.Labels[corev1.LabelOSStable]; ok && os != string(corev1.Linux) {
		return admitResult{reason: "PodOSSelectorNodeLabelDoesNotMatch", message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"}
	}
	if asked.Spec.OS != nil && asked.Spec.OS.Name != corev1.Linux {
		return admitResult{reason: "PodOSNotSupported", message: "Failed to admit pod as the OS field doesn't match node OS"}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.mu.pods[asked.UID]
	if p == nil || p.admitted && why == admitPod {
		return admitResult{}
	}
	wants := p.allocated()
	if why == admitResize {
		wants = amounts(quota.Sum{Overhead: true}.Requests(asked))
	}
	short := k.insufficient(asked.UID, wants, node.Status.Allocatable)
	if short != nil && !(sure && isCritical(asked)) {
		return admitResult{reason: "OutOf" + string(short[0].name), message: short[0].String(), needsNode: true}
	}
	if no := k.failedPredicate(asked, node); no.reason != "" {
		return no
	}
	if short != nil {
		return k.preempt(asked, short)
	}
	p.admitted = true
	return admitResult{}
}

// failedPredicate returns the first reason, besides resources, for which the node rejects a pod. k.mu is held.
func (k *kubelet) failedPredicate(asked *corev1.Pod, node *corev1.Node) admitResult {
	predicate := func(name, why string) admitResult {
		return admitResult{reason: name, message: "Predicate " + name + " failed: " + why}
	}
	if fits, err := nodeaffinity.GetRequiredNodeAffinity(asked).Match(node); err != nil || !fits {
		no := predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
		no.needsNode = true
		return no
	}
	if ports := hostPorts(asked); ports != nil {
		taken := false
		k.eachAdmitted(asked.UID, func(other *pod) { taken = taken || portsConflict(ports, hostPorts(other.view())) })
		if taken {
			return predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports")
		}
	}
	if slices.ContainsFunc(k.mu.taints, func(t corev1.Taint) bool { return !tolerated(asked, &t) }) {
		return predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate")
	}
	return admitResult{}
}

func tolerated(pod *corev1.Pod, taint *corev1.Taint) bool {
	return slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
		return t.ToleratesTaint(klog.Logger{}, taint, false)
	})
}

// noExecuteTaints returns the taints of a node that keep away pods which do not tolerate them.
func noExecuteTaints(n *corev1.Node) (taints []corev1.Taint) {
	for _, t := range n.Spec.Taints {
		if t.Effect == corev1.TaintEffectNoExecute {
			taints = append(taints, t)
		}
	}
	return taints
}

// hostPorts returns the ports of the node that a pod uses.
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

// portsConflict reports whether two pods use the same host port. A port without an address is one of all
// addresses.
func portsConflict(a, b []corev1.ContainerPort) bool {
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
