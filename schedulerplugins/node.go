package schedulerplugins

import (
	"fmt"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	ndf "k8s.io/component-helpers/nodedeclaredfeatures"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// generations counts the reads of generations, so that no two are equal: a plugin that keeps data of a node must read them again.
var generations atomic.Int64

// nodeInfo is a node of the cluster as plugins see it: read from the cluster at each call. The first change by a plugin makes
// a copy of its own, which the cluster does not see.
type nodeInfo struct {
	live *scheduler.NodeInfo
	own  *ownNode // nil before a change
}

// ownNode is the state of a nodeInfo that a plugin has changed.
type ownNode struct {
	node               *corev1.Node
	pods               []fwk.PodInfo // which plugins may sort
	requested, assumed scheduler.Resources
	allocatable        scheduler.Resources
	allowed            int
}

var _ fwk.NodeInfo = &nodeInfo{}

func (n *nodeInfo) Node() *corev1.Node {
	if n.own != nil {
		return n.own.node
	}
	return n.live.Node
}

// pods yields the pods of the node, without those that are only nominated to it.
func (n *nodeInfo) pods(yield func(*scheduler.PodInfo) bool) {
	if n.own != nil {
		for _, p := range n.own.pods {
			if !yield(ourPod(p)) {
				return
			}
		}
		return
	}
	for _, p := range n.live.Pods {
		if p.Nominee == nil && !yield(p) {
			return
		}
	}
}

func (n *nodeInfo) list(is func(*scheduler.PodInfo) bool) (list []fwk.PodInfo) {
	for p := range n.pods {
		if is(p) {
			list = append(list, podInfo{p})
		}
	}
	return list
}

func (n *nodeInfo) has(is func(*scheduler.PodInfo) bool) bool {
	for p := range n.pods {
		if is(p) {
			return true
		}
	}
	return false
}

func anyPod(*scheduler.PodInfo) bool { return true }

// GetPods returns the pods. The slice of a copy stays the same until its pods change, as kube-scheduler's.
func (n *nodeInfo) GetPods() []fwk.PodInfo {
	if n.own != nil {
		return n.own.pods
	}
	return n.list(anyPod)
}

func (n *nodeInfo) GetPodsWithAffinity() []fwk.PodInfo { return n.list(hasAffinity) }
func (n *nodeInfo) GetPodsWithRequiredAntiAffinity() []fwk.PodInfo {
	return n.list(hasRequiredAntiAffinity)
}
func (n *nodeInfo) GetPodsWithRequiredNonHostScopedAntiAffinity() []fwk.PodInfo {
	return n.list(hasWideAntiAffinity)
}

func (n *nodeInfo) GetUsedPorts() fwk.HostPortInfo {
	used := fwk.HostPortInfo{}
	for p := range n.pods {
		for _, c := range allContainers(&p.Pod.Spec) {
			for _, port := range c.Ports {
				used.Add(port.HostIP, string(port.Protocol), port.HostPort)
			}
		}
	}
	return used
}

// allContainers are those whose ports are in use as long as the pod runs.
func allContainers(spec *corev1.PodSpec) []corev1.Container {
	all := append([]corev1.Container{}, spec.Containers...)
	for _, c := range spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			all = append(all, c)
		}
	}
	return all
}

func (n *nodeInfo) GetRequested() fwk.Resource {
	if n.own != nil {
		return resourcesOf(&n.own.requested, 0)
	}
	return resourcesOf(&n.live.Requested, 0)
}

func (n *nodeInfo) GetNonZeroRequested() fwk.Resource {
	if n.own != nil {
		return resourcesOf(&n.own.assumed, 0)
	}
	return resourcesOf(&n.live.NonZeroRequested, 0)
}

func (n *nodeInfo) GetAllocatable() fwk.Resource {
	if n.own != nil {
		return resourcesOf(&n.own.allocatable, n.own.allowed)
	}
	return resourcesOf(&n.live.Allocatable, n.live.MaxPods)
}

func (n *nodeInfo) GetImageStates() map[string]*fwk.ImageStateSummary {
	states := map[string]*fwk.ImageStateSummary{}
	for _, image := range n.live.Images {
		states[image.Name] = &fwk.ImageStateSummary{Size: image.Size, NumNodes: image.Nodes, Nodes: sets.New[string]()}
	}
	return states
}

func (n *nodeInfo) GetPVCRefCounts() map[string]int {
	counts := map[string]int{}
	for p := range n.pods {
		for _, claim := range p.Claims {
			counts[p.Pod.Namespace+"/"+claim]++
		}
	}
	return counts
}

func (n *nodeInfo) GetGeneration() int64 {
	return generations.Add(1)
}

func (n *nodeInfo) GetNodeDeclaredFeatures() ndf.FeatureSet {
	return ndf.DefaultFramework.TryMap(n.Node().Status.DeclaredFeatures)
}

func (n *nodeInfo) String() string {
	return fmt.Sprintf("node %s with %d pods", n.live.Name, len(n.GetPods()))
}

// Snapshot returns a copy that changes of the cluster do not reach.
func (n *nodeInfo) Snapshot() fwk.NodeInfo {
	c := &nodeInfo{live: n.live}
	c.own = n.copied()
	return c
}

// copied returns a copy of the node's state.
func (n *nodeInfo) copied() *ownNode {
	of := &ownNode{node: n.Node(), pods: slices.Clone(n.GetPods())}
	if n.own != nil {
		of.allocatable, of.allowed = n.own.allocatable, n.own.allowed
	} else {
		of.allocatable, of.allowed = n.live.Allocatable, n.live.MaxPods
	}
	of.requested = resourcesOf(&n.GetRequested().(*resources).Resources, 0).Resources
	of.assumed = resourcesOf(&n.GetNonZeroRequested().(*resources).Resources, 0).Resources
	return of
}

func (n *nodeInfo) change() *ownNode {
	if n.own == nil {
		n.own = n.copied()
	}
	return n.own
}

func (n *nodeInfo) AddPodInfo(p fwk.PodInfo) {
	info := ourPod(p)
	own := n.change()
	own.pods = append(own.pods, podInfo{info})
	addTo(&own.requested, &info.Requests, 1)
	addTo(&own.assumed, &info.NonZeroRequests, 1)
}

func (n *nodeInfo) RemovePod(_ klog.Logger, pod *corev1.Pod) error {
	own := n.change()
	i := slices.IndexFunc(own.pods, func(p fwk.PodInfo) bool { return p.GetPod().UID == pod.UID })
	if i < 0 {
		return fmt.Errorf("no corresponding pod %s/%s in pods of node %s", pod.Namespace, pod.Name, n.live.Name)
	}
	info := ourPod(own.pods[i])
	own.pods = slices.Concat(own.pods[:i], own.pods[i+1:]) // a plugin may be ranging over the old slice
	addTo(&own.requested, &info.Requests, -1)
	addTo(&own.assumed, &info.NonZeroRequests, -1)
	return nil
}

func (n *nodeInfo) SetNode(node *corev1.Node) {
	own := n.change()
	own.node = node
	made := scheduler.NewCluster(nil).SetNode(node)
	own.allocatable, own.allowed = made.Allocatable, made.MaxPods
}

// addTo adds o times k to r.
func addTo(r, o *scheduler.Resources, k int64) {
	r.MilliCPU += k * o.MilliCPU
	r.Memory += k * o.Memory
	r.EphemeralStorage += k * o.EphemeralStorage
	for name, v := range o.Other {
		if r.Other == nil {
			r.Other = map[corev1.ResourceName]int64{}
		}
		r.Other[name] += k * v
	}
}

// ourPod returns the pod of a PodInfo, which a plugin may have made itself.
func ourPod(p fwk.PodInfo) *scheduler.PodInfo {
	if of, ok := p.(podInfo); ok {
		return of.PodInfo
	}
	return scheduler.NewPodInfo(p.GetPod())
}
