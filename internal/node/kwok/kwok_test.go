package kwok_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/node/kwok"
)

const head = "apiVersion: kwok.x-k8s.io/v1alpha1\nmetadata: {name: web}\n"

// TestUse takes a definition before the annotation before half of the request.
func TestUse(t *testing.T) {
	defs, err := kwok.Parse([]byte(head + "kind: ClusterResourceUsage\nspec: {selector: {matchNamespaces: [busy]}, usages: [{containers: [c], usage: {cpu: {value: 900m}}}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ namespace, annotation, container, cpu string }{
		{"busy", "5m", "c", "900m"}, {"busy", "5m", "d", "5m"}, {"idle", "5m", "c", "5m"}, {"idle", "", "c", "1"}, {"idle", "", "d", "1m"},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Annotations: map[string]string{kwok.CPUAnnotation: c.annotation}}}
		container := &corev1.Container{Name: c.container}
		if c.container == "c" {
			container.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
		}
		if used := defs.Use(pod, container); used.Cpu().String() != c.cpu || used.Memory().String() != "1Mi" {
			t.Errorf("%+v: %v", c, used)
		}
	}
}

func metric(sample string) string {
	return head + "kind: Metric\nspec: {path: /metrics, metrics: [{" + sample + "}]}\n"
}

// TestExpression evaluates expressions about a pod; without a value the default applies.
func TestExpression(t *testing.T) {
	defs, err := kwok.Parse([]byte(head + "kind: ClusterResourceUsage\nspec: {usages: [{usage: {cpu: {expression: 'Quantity(pod.metadata.annotations[\"load\"])'}, memory: {expression: 'container.name == \"c\" ? Quantity(\"3Mi\") : 5.0'}}}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"load": "250m"}}}
	if used := defs.Use(pod, &corev1.Container{Name: "c"}); used.Cpu().String() != "250m" || used.Memory().String() != "3Mi" {
		t.Errorf("%v", used)
	}
	if used := defs.Use(&corev1.Pod{}, &corev1.Container{Name: "d"}); used.Cpu().String() != "1m" || used.Memory().String() != "5" {
		t.Errorf("%v", used)
	}
}

// TestMetric finds the metrics at a path.
func TestMetric(t *testing.T) {
	defs, err := kwok.Parse([]byte(head + "kind: Metric\nspec: {path: '/metrics/nodes/{nodeName}/x', metrics: []}\n---\n" +
		strings.Replace(head, "web", "n9", 1) + "kind: Metric\nspec: {path: /metrics/nodes/n9, metrics: []}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/metrics/nodes/n1/x": "web of n1", "/metrics/nodes/n9": "n9 of ", "/metrics/nodes//x": "", "/metrics/nodes/n1": "", "/metrics/nodes/n1/x/y": "",
	} {
		got := ""
		if m, node := defs.Metric(path); m != nil {
			got = m.Name + " of " + node
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestFind takes a pod's own definition before those for many.
func TestFind(t *testing.T) {
	defs, err := kwok.Parse([]byte(head + "kind: ClusterLogs\nspec: {logs: [{content: all}]}\n---\n" +
		head + "kind: Logs\nspec: {logs: [{containers: [c], content: own}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ pod, container, want string }{{"web", "c", "own"}, {"web", "d", "all"}, {"other", "c", "all"}} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: c.pod}}
		if entry, ok := defs.Logs(pod, c.container); !ok || entry.Content != c.want {
			t.Errorf("%+v: %+v", c, entry)
		}
	}
}

// TestParseRefuses unknown kinds and members.
func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		head + "kind: CustomMetric\nspec: {}\n":                                         "no such kind",
		head + "kind: Metric\nspec: {path: /x}\n":                                       "does not begin with /metrics",
		head + "kind: Metric\nspec: {path: '/metrics/{pod}'}\n":                         "only one part may be open",
		metric("name: x, kind: gauge, dimension: pod, value: container.name"):           "spec.metrics[0]: value: there is no container here",
		metric("name: x, kind: gauge"):                                                  "value: an expression is wanted",
		metric("name: x, kind: timer, value: '1'"):                                      "none of counter, gauge and histogram",
		metric("name: x, kind: gauge, dimension: cluster, value: '1'"):                  "none of node, pod and container",
		metric("name: x, kind: histogram, value: '1'"):                                  "a histogram has buckets",
		metric("name: x, kind: histogram, buckets: [{le: 1, value: 1 +}]"):              "buckets[0].value: ERROR",
		metric("name: '', kind: gauge, value: '1'"):                                     "not a valid metric name",
		metric("name: x, kind: gauge, value: '1', labels: [{name: __y, value: '1'}]"):   "not a valid label name",
		head + "kind: Stage\nspec: {resourceRef: {kind: Service}}\n":                    "stages here are for Pod and Node",
		head + "kind: Logs\nspec: {logs: [{file: x}]}\n":                                "unknown field",
		head + "kind: Logs\nspec: {selector: {}}\n":                                     "spec.selector: unknown",
		"apiVersion: v1\nkind: Pod\n":                                                   "want kwok.x-k8s.io/v1alpha1",
		head + "kind: ResourceUsage\nspec: {usages: [{usage: {cpu: {expression: x}}}]}": "undeclared reference",
	} {
		if _, err := kwok.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestPut takes objects before files, and files again when they are gone.
func TestPut(t *testing.T) {
	defs, err := kwok.Parse([]byte(head + "kind: ClusterLogs\nspec: {logs: [{content: file}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}}
	says := func(want string) {
		t.Helper()
		if entry, ok := defs.Logs(pod, "c"); !ok || entry.Content != want {
			t.Errorf("%+v, want %s", entry, want)
		}
	}
	key := kwok.Object{Kind: "ClusterLogs", Name: "web"}
	put := func(content string) error {
		return defs.Put(key, []byte(`{"apiVersion":"kwok.x-k8s.io/v1alpha1","kind":"ClusterLogs","metadata":{"name":"web"},"spec":{"logs":[`+content+`]},"status":{"conditions":[]}}`))
	}
	says("file")
	if err := put(`{"content":"object"}`); err != nil {
		t.Fatal(err)
	}
	says("object")
	if err := put(`{"unheard":"of"}`); err == nil {
		t.Error("an unknown member is taken")
	}
	says("file")
	if err := put(`{"content":"again"}`); err != nil {
		t.Fatal(err)
	}
	says("again")
	defs.Remove(key)
	says("file")
}

// TestKinds: there is a definition for each kind that is read, and for no other.
func TestKinds(t *testing.T) {
	all, err := kwok.Kinds("*")
	if err != nil || len(all) != 12 {
		t.Fatalf("%d kinds, %v", len(all), err)
	}
	for _, k := range all {
		spec := "{}"
		switch k.Kind {
		case "Stage":
			spec = "{resourceRef: {kind: Pod}, selector: {}}"
		case "Metric":
			spec = "{path: /metrics, metrics: []}"
		}
		if _, err := kwok.Parse([]byte(head + "kind: " + k.Kind + "\nspec: " + spec + "\n")); err != nil {
			t.Error(err)
		}
		if k.CRD.GetName() != k.Resource.Resource+"."+k.Resource.Group {
			t.Errorf("%s is called %s", k.Resource, k.CRD.GetName())
		}
	}
	if _, err := kwok.Kinds("Metrics"); err == nil || !strings.Contains(err.Error(), `no kind "Metrics"`) {
		t.Errorf("an unknown kind: %v", err)
	}
}
