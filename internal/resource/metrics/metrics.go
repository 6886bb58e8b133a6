// Package metrics describes the kinds of metrics.k8s.io: the resource usage of nodes and pods. It is measured on
// request and never stored.
package metrics

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"fairlead.dev/internal/resource"
)

var readVerbs = []string{"get", "list"}

// Resources are the group's rows.
func Resources() []*resource.Resource {
	nodes := resource.ClusterScoped[v1beta1.NodeMetrics, v1beta1.NodeMetricsList](v1beta1.SchemeGroupVersion, "nodes").WithTable(nodeTable)
	pods := resource.NamespaceScoped[v1beta1.PodMetrics, v1beta1.PodMetricsList](v1beta1.SchemeGroupVersion, "pods").WithTable(podTable)
	for _, r := range []*resource.Resource{nodes, pods} {
		r.Virtual, r.StoragePrefix, r.Verbs, r.Singular = true, "", readVerbs, ""
	}
	return []*resource.Resource{nodes, pods}
}

var usageColumns = []metav1.TableColumnDefinition{
	resource.NameColumn,
	resource.Text("cpu", "CPU in use."),
	resource.Text("memory", "Memory in use."),
	resource.Text("Window", "The time over which the usage was measured."),
}

var nodeTable = resource.TableOf(func(n *v1beta1.NodeMetrics) []any {
	return row(n.Name, n.Usage, n.Window.Duration)
}, usageColumns...)

var podTable = resource.TableOf(func(p *v1beta1.PodMetrics) []any {
	total := corev1.ResourceList{}
	for _, c := range p.Containers {
		for name, q := range c.Usage {
			sum := total[name]
			sum.Add(q)
			total[name] = sum
		}
	}
	return row(p.Name, total, p.Window.Duration)
}, usageColumns...)

func row(name string, used corev1.ResourceList, window time.Duration) []any {
	return []any{name, used.Cpu().String(), used.Memory().String(), window.String()}
}
