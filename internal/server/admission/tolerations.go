package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// DefaultTolerationSeconds adds tolerations for nodes that are not ready or not reachable, unless the pod has its own.
type DefaultTolerationSeconds struct {
	// NotReady and Unreachable are how many seconds they last; nil stands for five minutes.
	NotReady, Unreachable *int64
}

// Name implements Plugin.
func (DefaultTolerationSeconds) Name() string { return "DefaultTolerationSeconds" }

// Admit implements Mutator.
func (p DefaultTolerationSeconds) Admit(_ context.Context, r *Request) error {
	if !r.on(Create, core("pods")) && !r.on(Update, core("pods")) {
		return nil
	}
	pod := r.Object.(*corev1.Pod)
	for _, d := range []struct {
		key     string
		seconds *int64
	}{{corev1.TaintNodeNotReady, p.NotReady}, {corev1.TaintNodeUnreachable, p.Unreachable}} {
		if !toleratesNoExecute(pod.Spec.Tolerations, d.key) {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
				Key: d.key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To(ptr.Deref(d.seconds, 300)),
			})
		}
	}
	return nil
}

func toleratesNoExecute(list []corev1.Toleration, key string) bool {
	for _, t := range list {
		if (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "") {
			return true
		}
	}
	return false
}
