package admission

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"fairlead.dev/internal/quota"
)

// MatchesNodeLabels reports whether the affinity of a pod selects nodes by labels, and not by their names alone.
func MatchesNodeLabels(pod *corev1.Pod) bool {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	return slices.ContainsFunc(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return len(t.MatchExpressions) > 0
	})
}

// CheckOS rejects a pod of another operating system than Linux.
func CheckOS(pod *corev1.Pod) Result {
	if os, ok := pod.Labels[corev1.LabelOSStable]; ok && os != string(corev1.Linux) {
		return Result{Reason: "PodOSSelectorNodeLabelDoesNotMatch", Message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"}
	}
	if pod.Spec.OS != nil && pod.Spec.OS.Name != corev1.Linux {
		return Result{Reason: "PodOSNotSupported", Message: "Failed to admit pod as the OS field doesn't match node OS"}
	}
	return Result{}
}

// Decide admits a pod or returns the first reason against it, in a kubelet's order. If only resources are missing
// for a critical pod, others are preempted.
func (r *Request) Decide() Result {
	wants := r.Allocation.Of(r.Pod)
	if r.Attempt == Resize {
		wants = amounts(quota.Sum{Overhead: true}.Requests(r.Pod))
	}
	short := r.insufficient(wants)
	if short != nil && !(r.Registered && IsCritical(r.Pod)) {
		return Result{Reason: "OutOf" + string(short[0].name), Message: short[0].String(), NeedsNode: true}
	}
	if no := r.failedPredicate(); no.Reason != "" {
		return no
	}
	if short != nil {
		return r.preempt(short)
	}
	return Result{}
}

// failedPredicate returns the first reason, besides resources, for which the node rejects the pod.
func (r *Request) failedPredicate() Result {
	predicate := func(name, why string) Result {
		return Result{Reason: name, Message: "Predicate " + name + " failed: " + why}
	}
	if fits, err := nodeaffinity.GetRequiredNodeAffinity(r.Pod).Match(r.Node); err != nil || !fits {
		no := predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
		no.NeedsNode = true
		return no
	}
	if ports := hostPorts(r.Pod); ports != nil {
		for other := range r.Residents {
			if portsConflict(ports, hostPorts(other.Pod)) {
				return predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports")
			}
		}
	}
	if slices.ContainsFunc(r.Taints, func(t corev1.Taint) bool { return !Tolerates(r.Pod, &t) }) {
		return predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate")
	}
	return Result{}
}

// Tolerates reports whether a pod tolerates a taint.
func Tolerates(pod *corev1.Pod, taint *corev1.Taint) bool {
	return slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
		return t.ToleratesTaint(klog.Logger{}, taint, false)
	})
}

// NoExecuteTaints returns the taints of a node that keep away pods which do not tolerate them.
func NoExecuteTaints(n *corev1.Node) (taints []corev1.Taint) {
	for _, t := range n.Spec.Taints {
		if t.Effect == corev1.TaintEffectNoExecute {
			taints = append(taints, t)
		}
	}
	return taints
}
