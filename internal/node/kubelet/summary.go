package kubelet

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The members of a kubelet's summary (stats.k8s.io/v1alpha1) that a simulation can fill in.
type (
	summary struct {
		Node nodeStats  `json:"node"`
		Pods []podStats `json:"pods"`
	}
	nodeStats struct {
		NodeName  string      `json:"nodeName"`
		StartTime metav1.Time `json:"startTime"`
		CPU       cpuStats    `json:"cpu"`
		Memory    memoryStats `json:"memory"`
	}
	podStats struct {
		PodRef     podRef           `json:"podRef"`
		StartTime  metav1.Time      `json:"startTime"`
		Containers []containerStats `json:"containers"`
		CPU        cpuStats         `json:"cpu"`
		Memory     memoryStats      `json:"memory"`
	}
	podRef struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
		UID       string `json:"uid"`
	}
	containerStats struct {
		Name      string      `json:"name"`
		StartTime metav1.Time `json:"startTime"`
		CPU       cpuStats    `json:"cpu"`
		Memory    memoryStats `json:"memory"`
	}
	cpuStats struct {
		Time                 metav1.Time `json:"time"`
		UsageNanoCores       uint64      `json:"usageNanoCores"`
		UsageCoreNanoSeconds uint64      `json:"usageCoreNanoSeconds"`
	}
	memoryStats struct {
		Time            metav1.Time `json:"time"`
		AvailableBytes  *uint64     `json:"availableBytes,omitempty"` // with a limit only
		UsageBytes      uint64      `json:"usageBytes"`
		WorkingSetBytes uint64      `json:"workingSetBytes"`
	}
)

// summary is the answer at /stats/summary.
func (v view) summary() summary {
	at := metav1.NewTime(v.read.at)
	cpu := func(u used) cpuStats {
		return cpuStats{at, uint64(u.now.cpu * 1e9), uint64(u.total.cpu * 1e9)}
	}
	memory := func(u used, limit float64) memoryStats {
		m := memoryStats{Time: at, UsageBytes: uint64(u.now.memory), WorkingSetBytes: uint64(u.now.memory)}
		if limit > 0 {
			rest := uint64(max(0, limit-u.now.memory))
			m.AvailableBytes = &rest
		}
		return m
	}
	s := summary{Pods: []podStats{}, Node: nodeStats{
		NodeName: v.node.Name, StartTime: v.node.CreationTimestamp, CPU: cpu(v.read.node),
		Memory: memory(v.read.node, v.node.Status.Capacity.Memory().AsApproximateFloat64()),
	}}
	for _, p := range v.read.pods {
		stats := podStats{
			PodRef: podRef{p.Name, p.Namespace, string(p.UID)}, Containers: []containerStats{},
			CPU: cpu(p.used), Memory: memory(p.used, 0),
		}
		if t := p.Status.StartTime; t != nil {
			stats.StartTime = *t
		}
		for _, c := range p.containers {
			limit := spec(p.Pod, c.name).Resources.Limits.Memory().AsApproximateFloat64()
			stats.Containers = append(stats.Containers, containerStats{c.name, metav1.NewTime(c.started), cpu(c.used), memory(c.used, limit)})
		}
		s.Pods = append(s.Pods, stats)
	}
	return s
}

// config is the answer at /configz: the part of a KubeletConfiguration that applies to these nodes.
func (v view) config() map[string]any {
	return map[string]any{"kubeletconfig": map[string]any{
		"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1",
		"enableServer":              true,
		"port":                      v.node.Status.DaemonEndpoints.KubeletEndpoint.Port,
		"authentication":            map[string]any{"anonymous": map[string]any{"enabled": true}},
		"authorization":             map[string]any{"mode": "AlwaysAllow"},
		"podCIDR":                   v.node.Spec.PodCIDR,
		"maxPods":                   v.node.Status.Capacity.Pods().Value(),
		"nodeLeaseDurationSeconds":  int64(v.lease / time.Second),
		"nodeStatusReportFrequency": "5m0s",
		"providerID":                v.node.Spec.ProviderID,
	}}
}
