package kubelet

import (
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/procstart"
)

// probes collects a kubelet's metrics of probes.
type probes struct{ view }

var (
	probeTotal    = desc("prober_probe_total", "[BETA] Cumulative number of a liveness, readiness or startup probe for a container by result.", "probe_type", "result", "container", "pod", "namespace", "pod_uid")
	probeDuration = desc("prober_probe_duration_seconds", "[ALPHA] Duration in seconds for a probe response.", "probe_type", "container", "pod", "namespace")
	processStart  = desc("process_start_time_seconds", "[ALPHA] Start time of the process since unix epoch in seconds.")
)

// probeTakes is how long a simulated probe takes, in seconds.
const probeTakes = 0.001

func (probes) Describe(to chan<- *prometheus.Desc) {
	to <- probeTotal
	to <- probeDuration
	to <- processStart
}

func (p probes) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.MustNewConstMetric(processStart, prometheus.GaugeValue, seconds(procstart.Time()))
	p.of.Probes(p.node.Name, p.read.at, func(pod *corev1.Pod, container, kind string, passed, failed int) {
		total := func(result string, n int) {
			if n > 0 {
				to <- prometheus.MustNewConstMetric(probeTotal, prometheus.CounterValue, float64(n), kind, result, container, pod.Name, pod.Namespace, string(pod.UID))
			}
		}
		total("successful", passed)
		total("failed", failed)
		if passed == 0 { // a kubelet observes those that pass
			return
		}
		buckets := map[float64]uint64{}
		for _, bound := range prometheus.DefBuckets {
			buckets[bound] = uint64(passed)
		}
		to <- prometheus.MustNewConstHistogram(probeDuration, uint64(passed), probeTakes*float64(passed), buckets, kind, container, pod.Name, pod.Namespace)
	})
}
