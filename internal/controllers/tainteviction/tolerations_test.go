package tainteviction

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestTolerates(t *testing.T) {
	seconds := func(key string, s int64) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &s}
	}
	always := corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists}
	taints := func(keys ...string) (list []corev1.Taint) {
		for _, k := range keys {
			list = append(list, corev1.Taint{Key: k, Effect: corev1.TaintEffectNoExecute})
		}
		return list
	}
	for _, c := range []struct {
		name    string
		have    []corev1.Toleration
		taints  []corev1.Taint
		stay    time.Duration
		forever bool
	}{
		{"no taints", nil, nil, 0, true},
		{"no tolerations", nil, taints("a"), 0, false},
		{"one of two", []corev1.Toleration{always}, taints("a", "b"), 0, false},
		{"for ever", []corev1.Toleration{always}, taints("a"), 0, true},
		{"a while", []corev1.Toleration{seconds("a", 300)}, taints("a"), 5 * time.Minute, false},
		{"the shortest counts", []corev1.Toleration{seconds("a", 300), seconds("b", 10)}, taints("a", "b"), 10 * time.Second, false},
		{"the first of a taint counts", []corev1.Toleration{always, seconds("a", 10)}, taints("a"), 0, true},
		{"not at all", []corev1.Toleration{seconds("a", -5)}, taints("a"), 0, false},
		{"longer than time goes", []corev1.Toleration{seconds("a", 1<<62)}, taints("a"), time.Duration(maxSeconds) * time.Second, false},
	} {
		if stay, forever := tolerates(c.have, c.taints); stay != c.stay || forever != c.forever {
			t.Errorf("%s: %v, %v", c.name, stay, forever)
		}
	}
}
