package admission_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/admission"
)

func TestNewNodesBearTheNotReadyTaint(t *testing.T) {
	notReady := corev1.Taint{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoSchedule}
	execute := corev1.Taint{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoExecute}
	for _, c := range []struct {
		name       string
		verb       admission.Verb
		have, want []corev1.Taint
	}{
		{"none", admission.Create, nil, []corev1.Taint{notReady}},
		{"it has it already", admission.Create, []corev1.Taint{notReady}, []corev1.Taint{notReady}},
		{"another effect is another taint", admission.Create, []corev1.Taint{execute}, []corev1.Taint{execute, notReady}},
		{"only new ones", admission.Update, nil, nil},
	} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{Taints: c.have}}
		if err := admit(t, admission.TaintNodesByCondition{}, request(c.verb, "nodes", "", "n", node, nil)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(node.Spec.Taints, c.want) {
			t.Errorf("%s: %v", c.name, node.Spec.Taints)
		}
	}
}
