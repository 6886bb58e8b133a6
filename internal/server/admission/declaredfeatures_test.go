package admission_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/admission"
)

// TestDeclaredFeatures: resources of init containers, and those of the whole pod, are only changed on a node that declares this.
func TestDeclaredFeatures(t *testing.T) {
	w := newWorld()
	node := func(name string, features ...string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{DeclaredFeatures: features}}
	}
	const ofInit, ofPods = "InPlacePodVerticalScalingInitContainers", "InPlacePodLevelResourcesVerticalScaling"
	w["nodes"] = []metav1.Object{node("old"), node("new", ofPods, ofInit, "SomethingUnknown"), node("half", ofPods)}
	pod := func(node, init, whole, container string, generation int64) *corev1.Pod {
		of := func(cpu string) corev1.ResourceRequirements {
			return corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}
		}
		all := of(whole)
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Generation: generation}, Spec: corev1.PodSpec{
			NodeName: node, Resources: &all, InitContainers: []corev1.Container{{Name: "i", Resources: of(init)}},
			Containers: []corev1.Container{{Name: "c", Resources: of(container)}},
		}}
	}
	for _, c := range []struct {
		node, init, whole, container, subresource string
		generation                                int64
		want                                      string
	}{
		{"old", "1", "1", "2", "resize", 2, ""},
		{"old", "2", "1", "1", "resize", 2, "pod update requires features " + ofInit + ` which are not available on node "old"`},
		{"old", "2", "2", "1", "resize", 2, "pod update requires features " + ofPods + ", " + ofInit + ` which are not available on node "old"`},
		{"half", "2", "2", "1", "", 2, "pod update requires features " + ofInit + ` which are not available on node "half"`},
		{"half", "1", "2", "1", "resize", 2, ""},
		{"new", "2", "2", "2", "resize", 2, ""},
		{"old", "2", "2", "1", "status", 2, ""},
		{"old", "2", "2", "1", "resize", 1, ""}, // unchanged
		{"", "2", "2", "1", "", 2, ""},
		{"gone", "2", "1", "1", "resize", 2, `node "gone" not found`},
	} {
		r := request(admission.Update, "pods", "shop", "p", pod(c.node, c.init, c.whole, c.container, c.generation), pod(c.node, "1", "1", "1", 1))
		r.Subresource = c.subresource
		err := admit(t, admission.DeclaredFeatures{Lookup: w}, r)
		switch {
		case err == nil && c.want != "":
			t.Errorf("%+v is admitted", c)
		case err != nil && err.ErrStatus.Message != `pods "p" is forbidden: `+c.want:
			t.Errorf("%+v: %q", c, err.ErrStatus.Message)
		}
	}
}
