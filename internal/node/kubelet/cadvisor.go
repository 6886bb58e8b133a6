package kubelet

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
)

// cadvisor collects the metrics that a kubelet has from cAdvisor, as far as they are simulated: CPU, memory and
// the limits of both, for the machine, pods and containers.
type cadvisor struct{ view }

// group are the labels of a cgroup. A pod's cgroup has an empty container label, and the machine's an empty pod
// label too.
var group = []string{"container", "id", "image", "name", "namespace", "pod"}

var (
	groupCPU     = desc("container_cpu_usage_seconds_total", "Cumulative cpu time consumed in seconds.", append([]string{"cpu"}, group...)...)
	groupMemory  = desc("container_memory_usage_bytes", "Current memory usage in bytes, including all memory regardless of when it was accessed", group...)
	groupWorking = desc("container_memory_working_set_bytes", "Current working set in bytes.", group...)
	groupSeen    = desc("container_last_seen", "Last time a container was seen by the exporter", group...)
	groupStart   = desc("container_start_time_seconds", "Start time of the container since unix epoch in seconds.", group...)
	groupPeriod  = desc("container_spec_cpu_period", "CPU period of the container.", group...)
	groupQuota   = desc("container_spec_cpu_quota", "CPU quota of the container.", group...)
	groupLimit   = desc("container_spec_memory_limit_bytes", "Memory limit for the container.", group...)
	machineCores = desc("machine_cpu_cores", "Number of logical CPU cores.", "boot_id", "machine_id", "system_uuid")
	machineBytes = desc("machine_memory_bytes", "Amount of memory installed on the machine.", "boot_id", "machine_id", "system_uuid")
	machineError = desc("container_scrape_error", "1 if there was an error while getting container metrics, 0 otherwise")
)

// cpuPeriod is the CFS period in microseconds, by which CPU limits become quotas.
const cpuPeriod = 100000

func (cadvisor) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		groupCPU, groupMemory, groupWorking, groupSeen, groupStart, groupPeriod, groupQuota, groupLimit, machineCores, machineBytes, machineError,
	} {
		to <- d
	}
}

func (a cadvisor) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, n float64, labels ...string) {
		to <- prometheus.NewMetricWithTimestamp(a.read.at, prometheus.MustNewConstMetric(d, prometheus.GaugeValue, n, labels...))
	}
	uses := func(u used, labels ...string) {
		to <- prometheus.NewMetricWithTimestamp(a.read.at, prometheus.MustNewConstMetric(groupCPU, prometheus.CounterValue, u.total.cpu, append([]string{"total"}, labels...)...))
		gauge(groupMemory, u.now.memory, labels...)
		gauge(groupWorking, u.now.memory, labels...)
		gauge(groupSeen, seconds(a.read.at), labels...)
	}
	uses(a.read.node, "", "/", "", "", "", "")
	for _, p := range a.read.pods {
		id := "/kubepods/pod" + string(p.UID)
		uses(p.used, "", id, "", "", p.Namespace, p.Name)
		for _, c := range p.containers {
			s, of := status(p.Pod, c.name), spec(p.Pod, c.name)
			labels := []string{c.name, id + "/" + s.ContainerID, s.Image, s.ContainerID, p.Namespace, p.Name}
			uses(c.used, labels...)
			gauge(groupStart, seconds(c.started), labels...)
			gauge(groupPeriod, cpuPeriod, labels...)
			if limit, ok := of.Resources.Limits[corev1.ResourceCPU]; ok {
				gauge(groupQuota, limit.AsApproximateFloat64()*cpuPeriod, labels...)
			}
			limit := of.Resources.Limits[corev1.ResourceMemory] // 0 is no limit
			gauge(groupLimit, limit.AsApproximateFloat64(), labels...)
		}
	}
	info := a.node.Status.NodeInfo
	gauge(machineCores, a.node.Status.Capacity.Cpu().AsApproximateFloat64(), info.BootID, info.MachineID, info.SystemUUID)
	gauge(machineBytes, a.node.Status.Capacity.Memory().AsApproximateFloat64(), info.BootID, info.MachineID, info.SystemUUID)
	gauge(machineError, 0)
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / float64(time.Second) }
