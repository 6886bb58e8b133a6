package kubelet_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

const metric = `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Metric
metadata: {name: own}
spec:
  path: /metrics/nodes/{nodeName}/own
  metrics:
  - {name: kubelet_node_name, help: "[ALPHA] The node's name. The count is always 1.", kind: gauge, labels: [{name: node, value: node.metadata.name}], value: "1"}
  - {name: kubelet_started_containers_total, kind: counter, value: StartedContainersTotal(node.metadata.name)}
  - {name: memory, kind: gauge, dimension: pod, labels: [{name: pod, value: pod.metadata.name}], value: 'pod.Usage("memory")'}
  - {name: label, kind: gauge, dimension: pod, labels: [{name: app, value: pod.metadata.labels.app}], value: "2"}
  - {name: cpu, kind: gauge, dimension: container, labels: [{name: c, value: container.name}, {name: pod, value: pod.metadata.name}], value: 'Usage(pod, "cpu", container.name)'}
  - name: lasts
    kind: histogram
    buckets: [{le: 4, value: "3"}, {le: 1, value: "1"}, {le: 2, value: "2", hidden: true}]
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterResourceUsage
metadata: {name: web}
spec: {usages: [{usage: {memory: {expression: 'pod.metadata.name == "web" ? Quantity("3Mi") : Quantity("1Mi")'}}}]}
`

// TestMetrics reads metrics through the server, as Prometheus and metrics-server do.
func TestMetrics(t *testing.T) {
	env := testenv.New(t, testenv.Options{Nodes: 2, NoScheduler: true, Controllers: []string{"serviceaccount"}, Stages: testenv.Objects{Values: []any{[]byte(metric)}}})
	w := world{env, client.For[*corev1.Pod](env.Client(t)).Namespace("default"), env.Config().Host + "/api/v1/namespaces/default/pods/"}
	accounts := client.For[*corev1.ServiceAccount](env.Client(t)).Namespace("default")
	await(t, accounts, "default", func(*corev1.ServiceAccount) bool { return true })
	for _, name := range []string{"web", "elsewhere", "done", "waiting"} {
		w.run(t, name, func(p *corev1.Pod) {
			switch p.Spec.Containers[0].Resources.Requests = (corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}); name {
			case "web":
				p.Labels = map[string]string{"app": "shop"}
			case "elsewhere":
				p.Spec.NodeName = "node-2"
			case "done":
				p.Spec.RestartPolicy = corev1.RestartPolicyNever
				p.Spec.Containers[0].Command = []string{"true"}
			case "waiting":
				p.Annotations = map[string]string{"fairlead.dev/start-after": "1h"}
			}
		})
	}
	await(t, w.pods, "web", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	await(t, w.pods, "done", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })

	read := func(path string) []string {
		t.Helper()
		code, body := w.get(t, path)
		if code != 200 {
			t.Fatalf("%s: %d %s", path, code, body)
		}
		return strings.Split(strings.TrimSpace(body), "\n")
	}
	const proxy = "/api/v1/nodes/node-1/proxy"
	want := strings.Split(`# HELP container_cpu_usage_seconds_total [STABLE] Cumulative cpu time consumed by the container in core-seconds
# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{container="c",namespace="default",pod="web"} N N
# HELP container_memory_working_set_bytes [STABLE] Current working set of the container in bytes
# TYPE container_memory_working_set_bytes gauge
container_memory_working_set_bytes{container="c",namespace="default",pod="web"} N N
# HELP container_start_time_seconds [STABLE] Start time of the container since unix epoch in seconds
# TYPE container_start_time_seconds gauge
container_start_time_seconds{container="c",namespace="default",pod="web"} N
# HELP container_swap_usage_bytes [ALPHA] Current amount of the container swap usage in bytes. Reported only on non-windows systems
# TYPE container_swap_usage_bytes gauge
container_swap_usage_bytes{container="c",namespace="default",pod="web"} N N
# HELP node_cpu_usage_seconds_total [STABLE] Cumulative cpu time consumed by the node in core-seconds
# TYPE node_cpu_usage_seconds_total counter
node_cpu_usage_seconds_total N N
# HELP node_memory_working_set_bytes [STABLE] Current working set of the node in bytes
# TYPE node_memory_working_set_bytes gauge
node_memory_working_set_bytes N N
# HELP node_swap_usage_bytes [ALPHA] Current swap usage of the node in bytes. Reported only on non-windows systems
# TYPE node_swap_usage_bytes gauge
node_swap_usage_bytes N N
# HELP pod_cpu_usage_seconds_total [STABLE] Cumulative cpu time consumed by the pod in core-seconds
# TYPE pod_cpu_usage_seconds_total counter
pod_cpu_usage_seconds_total{namespace="default",pod="web"} N N
# HELP pod_memory_working_set_bytes [STABLE] Current working set of the pod in bytes
# TYPE pod_memory_working_set_bytes gauge
pod_memory_working_set_bytes{namespace="default",pod="web"} N N
# HELP pod_swap_usage_bytes [ALPHA] Current amount of the pod swap usage in bytes. Reported only on non-windows systems
# TYPE pod_swap_usage_bytes gauge
pod_swap_usage_bytes{namespace="default",pod="web"} N N
# HELP resource_scrape_error [STABLE] 1 if there was an error while getting container metrics, 0 otherwise
# TYPE resource_scrape_error gauge
resource_scrape_error N`, "\n")
	number := regexp.MustCompile(` [0-9][0-9.e+]*( [0-9]+)?$`)
	value := func(lines []string, name string) float64 {
		t.Helper()
		for _, l := range lines {
			if strings.HasPrefix(l, name+"{") || strings.HasPrefix(l, name+" ") {
				text := strings.Fields(number.FindString(l))[0]
				n, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
		}
		t.Fatalf("no %s", name)
		return 0
	}
	first := read(proxy + "/metrics/resource")
	var shape []string
	for _, l := range first {
		if !strings.HasPrefix(l, "#") {
			l = number.ReplaceAllStringFunc(l, func(text string) string { return strings.Repeat(" N", len(strings.Fields(text))) })
		}
		shape = append(shape, l)
	}
	if !slices.Equal(shape, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(shape, "\n"), strings.Join(want, "\n"))
	}
	for name, want := range map[string]float64{"container_memory_working_set_bytes": 3 << 20, "pod_memory_working_set_bytes": 3 << 20, "node_memory_working_set_bytes": 3 << 20, "resource_scrape_error": 0} {
		if got := value(first, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	again := read(proxy + "/metrics/nodes/node-1/metrics/resource") // each node serves the paths of all
	for _, name := range []string{"container_cpu_usage_seconds_total", "pod_cpu_usage_seconds_total", "node_cpu_usage_seconds_total"} {
		if a, b := value(first, name), value(again, name); a < 0 || b <= a {
			t.Errorf("%s: %v, then %v", name, a, b)
		}
	}
	if other := strings.Join(read(proxy+"/metrics/nodes/node-2/metrics/resource"), "\n"); !strings.Contains(other, `pod="elsewhere"`) || strings.Contains(other, `pod="web"`) {
		t.Errorf("another node: %s", other)
	}

	own := strings.Join(read(proxy+"/metrics/nodes/node-1/own"), "\n")
	if want := `# HELP cpu 
# TYPE cpu gauge
cpu{c="c",pod="done"} 0
cpu{c="c",pod="waiting"} 0
cpu{c="c",pod="web"} 1
# HELP kubelet_node_name [ALPHA] The node's name. The count is always 1.
# TYPE kubelet_node_name gauge
kubelet_node_name{node="node-1"} 1
# HELP kubelet_started_containers_total 
# TYPE kubelet_started_containers_total counter
kubelet_started_containers_total 2
# HELP label 
# TYPE label gauge
label{app="shop"} 2
# HELP lasts 
# TYPE lasts histogram
lasts_bucket{le="1"} 1
lasts_bucket{le="4"} 6
lasts_bucket{le="+Inf"} 6
lasts_sum 17
lasts_count 6
# HELP memory 
# TYPE memory gauge
memory{pod="done"} 0
memory{pod="waiting"} 0
memory{pod="web"} 3.145728e+06`; own != want {
		t.Errorf("%s\nwant\n%s", own, want)
	}
	for path, want := range map[string]string{"/metrics/none": "404 page not found", "/metrics/nodes/x/own": `node "x": is not one of those`, "/metrics/nodes/x/metrics/resource": `node "x": is not one of those`} {
		if code, body := w.get(t, proxy+path); code != 404 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}
