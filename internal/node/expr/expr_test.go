package expr_test

import (
	"math"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/node/expr"
)

// meter answers with numbers that depend on the question.
type meter struct{}

func (meter) Usage(resource string, pod *corev1.Pod, container string) float64 {
	n := float64(len(resource))
	if pod != nil {
		n += 10
	}
	if container != "" {
		n += 100
	}
	return n
}

func (m meter) Cumulative(resource string, pod *corev1.Pod, container string) float64 {
	return 1000 + m.Usage(resource, pod, container)
}

func (meter) Started() int64 { return 7 }

func scope() expr.Scope {
	began := metav1.NewTime(time.Now().Add(-time.Hour))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", CreationTimestamp: began, Labels: map[string]string{"requests": "3"}}}
	pod.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
	}}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", CreationTimestamp: metav1.Unix(1700000000, 0)}}
	node.Status.Capacity = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("4Ki")}
	return expr.OfNode(node, meter{}).WithPod(pod).WithContainer(&pod.Spec.Containers[0])
}

// TestNumber evaluates each function in each scope.
func TestNumber(t *testing.T) {
	for text, want := range map[string]float64{
		`0`: 0, `1.5 * 2.0`: 3, `2u`: 2, `duration("90s")`: 90,
		`Quantity("100m")`: 0.1, `"10Mi".Quantity()`: 10 << 20,
		`container.resources.requests["cpu"] * 2.0`:                                         0.2,
		`Quantity(pod.spec.containers[0].resources.requests["cpu"])`:                        0.1,
		`node.status.capacity.memory`:                                                       4096,
		`UnixSecond(node.metadata.creationTimestamp)`:                                       1700000000,
		`"x" in pod.metadata.annotations ? 1.0 : Quantity("2")`:                             2,
		`int(pod.metadata.labels.requests)`:                                                 3,
		`Usage(pod, "cpu")`:                                                                 13,
		`pod.Usage("memory", container.name)`:                                               116,
		`node.Usage("cpu")`:                                                                 3,
		`CumulativeUsage(node, "cpu")`:                                                      1003,
		`pod.CumulativeUsage("cpu", "c")`:                                                   1113,
		`StartedContainersTotal(node.metadata.name)`:                                        7,
		`node.StartedContainersTotal() + double(int(Rand()))`:                               7,
		`Now() - Now() < duration("1m") && Now() > node.metadata.creationTimestamp ? 1 : 0`: 1,
	} {
		p, err := expr.Compile(text, expr.Node, expr.Pod, expr.Container)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := p.Number(scope()); err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	p, err := expr.Compile(`pod.SinceSecond()`, expr.Pod)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Number(scope()); err != nil || got < 3600 || got > 7200 {
		t.Errorf("an hour: %v, %v", got, err)
	}
}

// TestText evaluates expressions for labels.
func TestText(t *testing.T) {
	for text, want := range map[string]string{`pod.metadata.name`: "p", `container.name + "!"`: "c!", `3`: "3", `node.metadata.labels.size() == 0`: "true"} {
		p, err := expr.Compile(text, expr.Node, expr.Pod, expr.Container)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Text(scope()); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
}

// TestRefuses expressions that do not compile, or whose value is not a number.
func TestRefuses(t *testing.T) {
	for text, want := range map[string]string{`pod.`: "Syntax error", `nothing`: "undeclared reference", `pod.metadata.name`: "there is no pod here", `StartedContainersTotal("x") + pod.SinceSecond()`: "there is no pod here"} {
		if _, err := expr.Compile(text, expr.Node); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{`pod.metadata.name`: "the value is a string, not a number", `pod.spec.nothing`: "no such key", `Quantity("x")`: "x is not a quantity", `Usage("x", "cpu")`: "no such overload"} {
		p, err := expr.Compile(text, expr.Pod)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Number(scope()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
