package check_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/resource/check"
)

func spec() *corev1.PodSpec {
	s := &corev1.PodSpec{NodeSelector: map[string]string{}, NodeName: "n"}
	for i := range 20 {
		s.NodeSelector[fmt.Sprint("k", i)] = "v"
	}
	s.Containers = []corev1.Container{{
		Name: "c", Image: "i", Args: []string{"a"},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("500m")}},
	}}
	return s
}

func TestSame(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*corev1.PodSpec)
		want   bool
	}{
		"nothing":             {func(*corev1.PodSpec) {}, true},
		"another quantity":    {func(s *corev1.PodSpec) { s.Containers[0].Resources.Requests["cpu"] = resource.MustParse("1") }, false},
		"a quantity reworded": {func(s *corev1.PodSpec) { s.Containers[0].Resources.Requests["cpu"] = resource.MustParse("0.5") }, true},
		"empty for nil":       {func(s *corev1.PodSpec) { s.Tolerations = []corev1.Toleration{} }, true},
		"another image":       {func(s *corev1.PodSpec) { s.Containers[0].Image = "j" }, false},
		"one key less":        {func(s *corev1.PodSpec) { delete(s.NodeSelector, "k7") }, false},
		"a container less":    {func(s *corev1.PodSpec) { s.Containers = nil }, false},
	} {
		a, b := spec(), spec()
		c.change(b)
		if got := check.Same(a, b); got != c.want || got != apiequality.Semantic.DeepEqual(a, b) {
			t.Errorf("%s: same is %v", name, got)
		}
	}
	var none *corev1.PodSpec
	if check.Same(none, spec()) || check.Same(spec(), none) || !check.Same(none, none) {
		t.Error("nil is like nil, and like nothing else")
	}
}

func BenchmarkSame(b *testing.B) {
	x, y := spec(), spec()
	for b.Loop() {
		if !check.Same(x, y) {
			b.Fatal("not the same")
		}
	}
}

func BenchmarkDeepEqual(b *testing.B) {
	x, y := spec(), spec()
	for b.Loop() {
		if !apiequality.Semantic.DeepEqual(x, y) {
			b.Fatal("not the same")
		}
	}
}
