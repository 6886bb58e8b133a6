package tainteviction

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// executing returns the node's NoExecute taints.
func executing(n *corev1.Node) []corev1.Taint {
	if !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoExecute }) {
		return nil // most nodes; without an allocation
	}
	return slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectNoExecute })
}

// tolerates returns how long a pod may stay under the taints: by the first toleration of each taint, the shortest
// of these times.
func tolerates(list []corev1.Toleration, taints []corev1.Taint) (stay time.Duration, forever bool) {
	forever = true
	for i := range taints {
		at := slices.IndexFunc(list, func(t corev1.Toleration) bool { return t.ToleratesTaint(klog.Logger{}, &taints[i], false) })
		if at < 0 {
			return 0, false
		}
		if s := list[at].TolerationSeconds; s != nil {
			d := time.Duration(max(0, min(*s, maxSeconds))) * time.Second
			if forever || d < stay {
				stay, forever = d, false
			}
		}
	}
	return stay, forever
}

// maxSeconds is the maximum that fits a time.Duration.
const maxSeconds = int64(1<<63-1) / int64(time.Second)
