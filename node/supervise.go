package node

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/node/eviction"
	"fairlead.dev/internal/node/images"
	"fairlead.dev/internal/node/kubeletconfig"
	"fairlead.dev/internal/node/lifecycle"
)

// The times between two looks of a kubelet at the usage of its node: in general, and while a pod ends for a lack.
const (
	supervisePause = 10 * time.Second
	evictionPause  = time.Second
)

// supervised is the state of a node's supervision.
type supervised struct {
	manager *eviction.Manager
	of      *kubeletconfig.Config // of the manager
}

// watchUsage begins the supervision of a node: its usage can be short, since it is declared, or the node shuts down. mu is held.
func (k *kubelet) watchUsage() {
	k.mu.supervised = true
	k.supervision.Add(k)
}

// supervise compares the usage of the node with its thresholds, and ends a pod if one is met. It returns when to look
// again; zero once no usage is declared and no pressure is left.
func (k *kubelet) supervise(context.Context) (next time.Time, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if k.mu.outage {
		return next, nil // the end of the outage begins it again
	}
	config := k.mu.settings.kubelet()
	if k.mu.pressure.manager == nil || k.mu.pressure.of != config {
		if k.mu.pressure.manager, err = eviction.New(config); err != nil {
			return next, nil // readKubeletConfig has checked it
		}
		k.mu.pressure.of = config
	}
	pods, plays := k.usage()
	seen := k.observations(pods)
	under := k.mu.pressure.manager.Observe(seen, now)
	if !slices.Equal(under.Conditions, k.mu.under) {
		k.mu.under, k.mu.news = under.Conditions, true
		k.beat()
	}
	if k.shutDown(now) {
		return k.mu.shutdown.next, nil
	}
	if !plays && k.mu.settings.usage == (eviction.Usage{}) && len(under.Conditions) == 0 {
		k.mu.supervised = false
		return next, nil
	}
	if k.evict(pods, under.Act, seen, now) {
		return now.Add(evictionPause), nil
	}
	return now.Add(supervisePause), nil
}

// usage returns the pods with running containers and their usage, and whether that of one is declared.
func (k *kubelet) usage() (pods []*eviction.Pod, plays bool) {
	defs := k.options.Definitions
	for _, p := range k.mu.pods {
		v := p.view()
		if lifecycle.IsOver(&v.Status) {
			continue
		}
		plays = plays || p.plays
		one := &eviction.Pod{Pod: v, EmptyDirs: defs.EmptyDirs(v)}
		for i, list := range [][]corev1.Container{v.Spec.Containers, v.Spec.InitContainers} {
			statuses := [][]corev1.ContainerStatus{v.Status.ContainerStatuses, v.Status.InitContainerStatuses}[i]
			for j := range min(len(list), len(statuses)) {
				if statuses[j].State.Running == nil {
					continue
				}
				one.Containers = append(one.Containers, eviction.Container{Name: list[j].Name, Usage: eviction.Usage{
					Memory:    defs.Load(corev1.ResourceMemory, v, &list[j]),
					Storage:   defs.Load(corev1.ResourceEphemeralStorage, v, &list[j]),
					Processes: defs.Load(images.Processes, v, &list[j]),
				}})
			}
		}
		if len(one.Containers) > 0 {
			pods = append(pods, one)
		}
	}
	return pods, plays
}

// observations returns how much the node has left beside its pods and its system. Images and containers are on the file
// system of the node.
func (k *kubelet) observations(pods []*eviction.Pod) eviction.Observations {
	var ofPods eviction.Usage
	for _, p := range pods {
		ofPods.Add(p.Uses())
	}
	sum, config := k.mu.settings.usage, k.mu.settings.kubelet()
	sum.Add(ofPods)
	left := func(capacity, used int64) eviction.Observation {
		return eviction.Observation{Available: max(0, capacity-used), Capacity: capacity}
	}
	capacity, _ := k.mu.settings.limits(k.capacity)
	memory := capacity.Memory().Value()
	reserved := config.Reserved(corev1.ResourceMemory)
	disk := left(capacity.StorageEphemeral().Value(), sum.Storage)
	return eviction.Observations{
		eviction.Memory:            left(memory, sum.Memory),
		eviction.AllocatableMemory: left(memory-reserved.Value(), ofPods.Memory),
		eviction.NodeFS:            disk,
		eviction.ImageFS:           disk,
		eviction.PID:               left(eviction.MaxProcesses, sum.Processes),
	}
}

// evict ends the pods that use more storage than their limits, else one for the thresholds that are met. It reports whether
// a pod ends now or still does.
func (k *kubelet) evict(pods []*eviction.Pod, act []eviction.Threshold, seen eviction.Observations, now time.Time) bool {
	ending := false
	for _, p := range k.mu.pods {
		ending = ending || p.ending != nil && p.ending.Reason == eviction.Reason && !lifecycle.IsOver(&p.latest.Status)
	}
	if ending {
		return true
	}
	for _, p := range pods {
		if message := eviction.OverLimit(p); message != "" {
			ending = k.evictPod(p, lifecycle.Ending{Since: now, Grace: time.Second, Message: message}) || ending
		}
	}
	if ending || len(act) == 0 || len(pods) == 0 {
		return ending
	}
	k.recordThreshold(act[0])
	eviction.Rank(act[0], pods)
	grace := time.Second
	if !act[0].Hard {
		grace = time.Duration(k.mu.settings.kubelet().EvictionMaxPodGracePeriod) * time.Second
	}
	for _, p := range pods {
		message := eviction.Message(p, act, seen)
		if k.evictPod(p, lifecycle.Ending{Since: now, Grace: grace, Message: message, Target: message}) {
			return true
		}
	}
	return false
}

// evictPod ends a pod unless it is critical or about to end.
func (k *kubelet) evictPod(of *eviction.Pod, e lifecycle.Ending) bool {
	p := k.mu.pods[of.UID]
	if p == nil || p.ending != nil || p.latest.DeletionTimestamp != nil || admission.IsCritical(of.Pod) {
		return false
	}
	e.Reason = eviction.Reason
	k.end(p, &e, eviction.Reason)
	return true
}
