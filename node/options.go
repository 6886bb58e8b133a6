package node

import (
	"cmp"
	"maps"
	"net"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/node/kwok"
)

// Options of the simulated nodes. The zero value of a field means its default.
type Options struct {
	// Count is how many nodes there are. Zero is none.
	Count int
	// NamePrefix is followed by 1, 2, 3 and so on; "node-" by default.
	NamePrefix string
	// Capacity of each node, all of it allocatable; by default 32 CPUs, 256Gi of memory,
	// 100Gi of ephemeral storage and 110 pods. What is given here adds to that or replaces it.
	Capacity corev1.ResourceList
	// Labels are added to each Node when it is created.
	Labels map[string]string
	// Template, if set, is what each Node is made of besides: its labels, annotations, taints
	// and whether it is schedulable, when it is created, and of its status capacity,
	// allocatable, nodeInfo and images. Capacity and Labels go before it.
	Template *corev1.Node
	// Zones are given to the nodes in turn, as label topology.kubernetes.io/zone.
	Zones []string
	// PodCIDR is where each node gets its range of pod addresses from, large enough for
	// twice its pods; 10.128.0.0/9 by default. A Node that has a podCIDR keeps it.
	PodCIDR netip.Prefix
	// NodeCIDR is where the nodes' own addresses come from; 172.16.0.0/12 by default.
	NodeCIDR netip.Prefix
	// LeaseDuration is how long a lease is good for, 40 seconds by default; it is renewed
	// four times in that time.
	LeaseDuration time.Duration
	// StartAfter is how long a pod takes to start, and RunFor how long a pod that ends
	// runs; by default no time and one second.
	StartAfter time.Duration
	RunFor     time.Duration
	// Events says which events about pods and nodes are written.
	Events Events
	// KubeletVersion is what the nodes report; by default the server's version.
	KubeletVersion string
	// Definitions are what the pods answer to logs, exec, attach and port-forward.
	Definitions *kwok.Definitions
	// Kinds are those of Definitions' kinds that the server has as well: the nodes tell it of
	// them, by CustomResourceDefinitions, and follow their objects, which count at once and before
	// Definitions. See kwok.Kinds.
	Kinds []kwok.Definition
	// Listener, if set, is where the API of all nodes' kubelets is served; Run closes it.
	// Endpoint, if valid, is its address as the nodes tell it; by default each tells its
	// own address and port 10250, which only lead somewhere within the process.
	Listener net.Listener
	Endpoint netip.AddrPort
	// PodWorkers is how many pods are written at once; 32 by default.
	PodWorkers int
}

// Events is how much the nodes tell about their pods and themselves. Each event is a write to the server,
// more than half as dear as that of the pod's status, which is why a kubelet's three for
// each container are not the default.
type Events int

const (
	// StartEvents tells that a pod's containers have started, or are killed: one event
	// for the pod in place of one for each container and step; and of nodes what has become of them:
	// that they are well again, cordoned or not, or rebooted.
	StartEvents Events = iota
	// NoEvents tells nothing.
	NoEvents
	// AllEvents tells what a kubelet does: Pulled, Created, Started and Killing for each
	// container, and how each node starts.
	AllEvents
)

const heartbeat = 5 * time.Minute

func (o Options) complete() Options {
	o.NamePrefix = cmp.Or(o.NamePrefix, "node-")
	o.LeaseDuration = cmp.Or(o.LeaseDuration, 40*time.Second)
	o.RunFor = cmp.Or(o.RunFor, time.Second)
	o.PodWorkers = cmp.Or(o.PodWorkers, 32)
	if o.Definitions == nil {
		o.Definitions = &kwok.Definitions{}
	}
	if !o.PodCIDR.IsValid() {
		o.PodCIDR = netip.MustParsePrefix("10.128.0.0/9")
	}
	if !o.NodeCIDR.IsValid() {
		o.NodeCIDR = netip.MustParsePrefix("172.16.0.0/12")
	}
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("32"),
		corev1.ResourceMemory:           resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
		corev1.ResourcePods:             resource.MustParse("110"),
	}
	if o.Template != nil {
		maps.Copy(capacity, o.Template.Status.Capacity)
	}
	maps.Copy(capacity, o.Capacity)
	o.Capacity = capacity
	return o
}
