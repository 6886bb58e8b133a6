package kubelet

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/node/eviction"
	"fairlead.dev/internal/node/images"
	"fairlead.dev/internal/node/kubeletconfig"
)

// The members of a kubelet's summary (stats.k8s.io/v1alpha1) that a simulation can fill in.
type (
	summary struct {
		Node nodeStats  `json:"node"`
		Pods []podStats `json:"pods"`
	}
	nodeStats struct {
		NodeName  string       `json:"nodeName"`
		StartTime metav1.Time  `json:"startTime"`
		CPU       cpuStats     `json:"cpu"`
		Memory    memoryStats  `json:"memory"`
		FS        fsStats      `json:"fs"`
		Runtime   runtimeStats `json:"runtime"`
		Rlimit    rlimitStats  `json:"rlimit"`
	}
	podStats struct {
		PodRef     podRef           `json:"podRef"`
		StartTime  metav1.Time      `json:"startTime"`
		Containers []containerStats `json:"containers"`
		CPU        cpuStats         `json:"cpu"`
		Memory     memoryStats      `json:"memory"`
		Storage    fsStats          `json:"ephemeral-storage"`
		Volumes    []volumeStats    `json:"volume,omitempty"`
		Processes  processStats     `json:"process_stats"`
	}
	volumeStats struct {
		fsStats
		Name string `json:"name"`
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
		Rootfs    fsStats     `json:"rootfs"`
		Logs      fsStats     `json:"logs"`
	}
	cpuStats struct {
		Time                 metav1.Time `json:"time"`
		UsageNanoCores       uint64      `json:"usageNanoCores"`
		UsageCoreNanoSeconds uint64      `json:"usageCoreNanoSeconds"`
	}
	fsStats struct {
		Time           metav1.Time `json:"time"`
		AvailableBytes int64       `json:"availableBytes"`
		CapacityBytes  int64       `json:"capacityBytes"`
		UsedBytes      int64       `json:"usedBytes"`
	}
	runtimeStats struct {
		ImageFS     fsStats `json:"imageFs"`
		ContainerFS fsStats `json:"containerFs"`
	}
	rlimitStats struct {
		Time    metav1.Time `json:"time"`
		MaxPID  int64       `json:"maxpid"`
		CurProc int64       `json:"curproc"`
	}
	processStats struct {
		Count int64 `json:"process_count"`
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
	load := func(name corev1.ResourceName, p podReading) (sum int64, by map[string]int64) {
		by = map[string]int64{}
		for _, c := range p.containers {
			by[c.name] = v.defs.Load(name, p.Pod, spec(p.Pod, c.name))
			sum += by[c.name]
		}
		return sum, by
	}
	disk, processes := v.system.Storage, v.system.Processes
	ofPods := make([]map[string]int64, len(v.read.pods))
	dirs, storage, counts := make([]map[string]int64, len(v.read.pods)), make([]int64, len(v.read.pods)), make([]int64, len(v.read.pods))
	for i, p := range v.read.pods {
		storage[i], ofPods[i] = load(corev1.ResourceEphemeralStorage, p)
		dirs[i] = v.defs.EmptyDirs(p.Pod)
		storage[i] += (&eviction.Pod{Pod: p.Pod, EmptyDirs: dirs[i]}).VolumesOnDisk()
		counts[i], _ = load(images.Processes, p)
		disk, processes = disk+storage[i], processes+counts[i]
	}
	capacity := v.node.Status.Capacity.StorageEphemeral().Value()
	fs := func(used int64) fsStats {
		return fsStats{Time: at, CapacityBytes: capacity, AvailableBytes: max(0, capacity-disk), UsedBytes: used}
	}
	s := summary{Pods: []podStats{}, Node: nodeStats{
		NodeName: v.node.Name, StartTime: v.node.CreationTimestamp, CPU: cpu(v.read.node),
		Memory: memory(v.read.node, v.node.Status.Capacity.Memory().AsApproximateFloat64()),
		FS:     fs(disk), Runtime: runtimeStats{fs(0), fs(disk)}, Rlimit: rlimitStats{at, eviction.MaxProcesses, processes},
	}}
	for i, p := range v.read.pods {
		stats := podStats{
			PodRef: podRef{p.Name, p.Namespace, string(p.UID)}, Containers: []containerStats{},
			CPU: cpu(p.used), Memory: memory(p.used, 0), Storage: fs(storage[i]), Processes: processStats{counts[i]},
		}
		if t := p.Status.StartTime; t != nil {
			stats.StartTime = *t
		}
		for _, name := range slices.Sorted(maps.Keys(dirs[i])) {
			stats.Volumes = append(stats.Volumes, volumeStats{fs(dirs[i][name]), name})
		}
		for _, c := range p.containers {
			limit := spec(p.Pod, c.name).Resources.Limits.Memory().AsApproximateFloat64()
			stats.Containers = append(stats.Containers, containerStats{c.name, metav1.NewTime(c.started), cpu(c.used), memory(c.used, limit), fs(ofPods[i][c.name]), fs(0)})
		}
		s.Pods = append(s.Pods, stats)
	}
	return s
}

// config is the answer at /configz: the part of a KubeletConfiguration that applies to these nodes.
func (v view) config() map[string]any {
	all := map[string]any{}
	config, err := kubeletconfig.Parse([]byte(v.node.Annotations[kubeletconfig.Annotation]))
	if err != nil {
		config = kubeletconfig.Default
	}
	if text, err := json.Marshal(config); err != nil || json.Unmarshal(text, &all) != nil {
		all = map[string]any{}
	}
	maps.Copy(all, map[string]any{
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
	})
	return map[string]any{"kubeletconfig": all}
}
