package kubelet

import (
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
)

// own collects the metrics of a kubelet about itself, as far as the simulation counts them.
type own struct{ view }

var (
	kubeletName      = desc("kubelet_node_name", "[ALPHA] The node's name. The count is always 1.", "node")
	kubeletPods      = desc("kubelet_running_pods", "[ALPHA] Number of pods that have a running pod sandbox")
	kubeletRunning   = desc("kubelet_running_containers", "[ALPHA] Number of containers currently running", "container_state")
	kubeletStarted   = desc("kubelet_started_containers_total", "[ALPHA] Cumulative number of containers started", "container_type")
	kubeletActive    = desc("kubelet_active_pods", "[ALPHA] The number of pods the kubelet considers active and which are being considered when admitting new pods. static is true if the pod is not from the apiserver.", "static")
	kubeletDesired   = desc("kubelet_desired_pods", "[ALPHA] The number of pods the kubelet is being instructed to run. static is true if the pod is not from the apiserver.", "static")
	kubernetesBuild  = desc("kubernetes_build_info", "[BETA] A metric with a constant '1' value labeled by version of the kubelet and platform.", "git_version", "platform")
	kubeletContainer = map[string]func(*corev1.PodStatus) []corev1.ContainerStatus{
		"container":           func(s *corev1.PodStatus) []corev1.ContainerStatus { return s.ContainerStatuses },
		"init_container":      func(s *corev1.PodStatus) []corev1.ContainerStatus { return s.InitContainerStatuses },
		"ephemeral_container": func(s *corev1.PodStatus) []corev1.ContainerStatus { return s.EphemeralContainerStatuses },
	}
)

func (own) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{kubeletName, kubeletPods, kubeletRunning, kubeletStarted, kubeletActive, kubeletDesired, kubernetesBuild} {
		to <- d
	}
}

func (o own) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, n int, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
	}
	active, states, started := 0, map[string]int{"running": 0, "exited": 0}, map[string]int{}
	for _, p := range o.pods {
		if p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			active++
		}
		for kind, list := range kubeletContainer {
			for _, c := range list(&p.Status) {
				if c.ContainerID == "" {
					continue
				}
				started[kind] += int(c.RestartCount) + 1
				if c.State.Running != nil {
					states["running"]++
				} else {
					states["exited"]++
				}
			}
		}
	}
	gauge(kubeletName, 1, o.node.Name)
	gauge(kubeletPods, len(o.read.pods))
	gauge(kubeletActive, active, "false")
	gauge(kubeletDesired, len(o.pods), "false")
	gauge(kubernetesBuild, 1, o.node.Status.NodeInfo.KubeletVersion, o.node.Status.NodeInfo.OperatingSystem+"/"+o.node.Status.NodeInfo.Architecture)
	for state, n := range states {
		gauge(kubeletRunning, n, state)
	}
	for kind, n := range started {
		to <- prometheus.MustNewConstMetric(kubeletStarted, prometheus.CounterValue, float64(n), kind)
	}
}
