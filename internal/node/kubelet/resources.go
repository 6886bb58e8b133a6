package kubelet

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// resources are the resource metrics of a kubelet, by its names, with its help.
type resources struct{ reading }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	ofContainer = []string{"container", "pod", "namespace"}
	ofPod       = []string{"pod", "namespace"}

	nodeCPU         = desc("node_cpu_usage_seconds_total", "[STABLE] Cumulative cpu time consumed by the node in core-seconds")
	nodeMemory      = desc("node_memory_working_set_bytes", "[STABLE] Current working set of the node in bytes")
	nodeSwap        = desc("node_swap_usage_bytes", "[ALPHA] Current swap usage of the node in bytes. Reported only on non-windows systems")
	containerCPU    = desc("container_cpu_usage_seconds_total", "[STABLE] Cumulative cpu time consumed by the container in core-seconds", ofContainer...)
	containerMemory = desc("container_memory_working_set_bytes", "[STABLE] Current working set of the container in bytes", ofContainer...)
	containerSwap   = desc("container_swap_usage_bytes", "[ALPHA] Current amount of the container swap usage in bytes. Reported only on non-windows systems", ofContainer...)
	containerStart  = desc("container_start_time_seconds", "[STABLE] Start time of the container since unix epoch in seconds", ofContainer...)
	podCPU          = desc("pod_cpu_usage_seconds_total", "[STABLE] Cumulative cpu time consumed by the pod in core-seconds", ofPod...)
	podMemory       = desc("pod_memory_working_set_bytes", "[STABLE] Current working set of the pod in bytes", ofPod...)
	podSwap         = desc("pod_swap_usage_bytes", "[ALPHA] Current amount of the pod swap usage in bytes. Reported only on non-windows systems", ofPod...)
	scrapeError     = desc("resource_scrape_error", "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise")
)

func (r resources) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		nodeCPU, nodeMemory, nodeSwap, containerCPU, containerMemory, containerSwap, containerStart, podCPU, podMemory, podSwap, scrapeError,
	} {
		to <- d
	}
}

func (r resources) Collect(to chan<- prometheus.Metric) {
	tell := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		to <- prometheus.NewMetricWithTimestamp(r.at, prometheus.MustNewConstMetric(d, kind, value, labels...))
	}
	three := func(cpu, memory, swap *prometheus.Desc, u used, labels ...string) {
		tell(cpu, prometheus.CounterValue, u.total.cpu, labels...)
		tell(memory, prometheus.GaugeValue, u.now.memory, labels...)
		tell(swap, prometheus.GaugeValue, 0, labels...)
	}
	three(nodeCPU, nodeMemory, nodeSwap, r.node)
	for _, p := range r.pods {
		three(podCPU, podMemory, podSwap, p.used, p.Name, p.Namespace)
		for _, c := range p.containers {
			three(containerCPU, containerMemory, containerSwap, c.used, c.name, p.Name, p.Namespace)
			began := float64(c.started.UnixNano()) / float64(time.Second)
			to <- prometheus.MustNewConstMetric(containerStart, prometheus.GaugeValue, began, c.name, p.Name, p.Namespace)
		}
	}
	to <- prometheus.MustNewConstMetric(scrapeError, prometheus.GaugeValue, 0)
}
