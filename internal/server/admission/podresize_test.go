package admission_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/admission"
)

// TestPodResize checks that a resize beyond the node's allocatable resources is rejected, with the reason as a
// cause.
func TestPodResize(t *testing.T) {
	w := newWorld()
	node := func(name, system string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelOSStable: system}}, Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("1Ki")},
		}}
	}
	w["nodes"] = []metav1.Object{node("linux", "linux"), node("windows", "windows")}
	pod := func(node, cpu, memory string, generation int64) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Generation: generation}, Spec: corev1.PodSpec{
			NodeName: node, Containers: []corev1.Container{{Name: "c"}}, Overhead: corev1.ResourceList{"cpu": resource.MustParse("500m")},
		}}
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
		return p
	}
	for _, c := range []struct {
		node, cpu, memory string
		generation        int64
		want, cause       string
	}{
		{"linux", "1500m", "1Ki", 2, "", ""},
		{"linux", "1501m", "1Ki", 2, "node didn't have enough allocatable resources: cpu, requested: 2001, allocatable: 2000", "NodeCapacity"},
		{"linux", "2", "2Ki", 2, "node didn't have enough allocatable resources: cpu, requested: 2500, allocatable: 2000; memory, requested: 2048, allocatable: 1024", "NodeCapacity"},
		{"linux", "2", "2Ki", 1, "", ""}, // unchanged
		{"", "2", "2Ki", 2, "", ""},
		{"gone", "1", "1", 2, `node "gone" not found`, ""},
		{"windows", "1", "1", 2, `pod resize is only supported on linux nodes, node "windows" is "windows"`, "UnsupportedPlatform"},
	} {
		r := request(admission.Update, "pods", "shop", "p", pod(c.node, c.cpu, c.memory, c.generation), pod(c.node, "1", "1", 1))
		r.Subresource = "resize"
		err := admit(t, admission.PodResize{Lookup: w}, r)
		message, cause := "", ""
		if err != nil {
			message = err.ErrStatus.Message
			for _, one := range err.ErrStatus.Details.Causes {
				cause += string(one.Type)
			}
		}
		if want := c.want; want != "" {
			want = `pods "p" is forbidden: ` + want
			if message != want || cause != c.cause {
				t.Errorf("%+v: %q, %s", c, message, cause)
			}
		} else if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	r := request(admission.Update, "pods", "shop", "p", pod("linux", "9", "1", 2), pod("linux", "1", "1", 1))
	if err := admit(t, admission.PodResize{Lookup: w}, r); err != nil {
		t.Errorf("an update that is no resize: %v", err)
	}
}
