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
	// Count is the number of nodes.
	Count int
	// Adopt makes the nodes simulate each Node that others create with the annotation fairlead.dev/simulated: "true" or
	// kwok.x-k8s.io/node: fake, whatever its name. Its capacity, allocatable resources and nodeInfo take precedence over
	// these options. Only one process of a cluster may do so. Without it, only Nodes that have a name of the Count nodes are
	// simulated again after they were deleted.
	Adopt bool
	// NamePrefix is followed by 1, 2, 3 and so on; "node-" by default.
	NamePrefix string
	// Capacity of each node, all of it allocatable; by default 32 CPUs, 256Gi of memory,
	// 100Gi of ephemeral storage and 110 pods. Resources given here are added to these or replace them.
	Capacity corev1.ResourceList
	// Labels are added to each Node when it is created.
	Labels map[string]string
	// Template, if set, provides the labels, annotations, taints and unschedulable of each Node when
	// it is created, and of its status capacity, allocatable, nodeInfo, images and
	// declaredFeatures. Capacity and Labels take precedence over it.
	Template *corev1.Node
	// Devices are the devices that nodes publish in ResourceSlices, as a driver would; nil: the nodes have no devices.
	Devices *Devices
	// GroupClaims lets pods use the ResourceClaims of their PodGroups (feature gate DRAWorkloadResourceClaims).
	GroupClaims bool
	// Zones are given to the nodes in turn, as label topology.kubernetes.io/zone.
	Zones []string
	// PodCIDR contains the range of pod addresses of each node, which is large enough for
	// twice its pods; 10.128.0.0/9 by default, which has room for 32,768 nodes of 110 pods. A Node that
	// has a podCIDR keeps it.
	PodCIDR netip.Prefix
	// NodeCIDR contains the nodes' own addresses; 172.16.0.0/12 by default.
	NodeCIDR netip.Prefix
	// Families are the IP families of the nodes and their pods, the primary one first; IPv4 by default. Addresses of IPv6
	// are in fd00:172:16::/96 and fd00:10:128::/96, and end with the bits of those of IPv4. Pods on a Node with a podCIDR of
	// IPv6 have theirs there.
	Families []corev1.IPFamily
	// LeaseDuration is how long a lease is valid; it is renewed four times in that time. It is 40
	// seconds by default, an hour with RareHeartbeats.
	LeaseDuration time.Duration
	// RareHeartbeats makes the nodes report their status once an hour in place of every five
	// minutes, and renew long leases. When an outage begins, a node renews its lease for 40
	// seconds. So a node lifecycle controller with nodelifecycle.Options.HonorLeases notices the
	// outage as it does with frequent heartbeats, and an idle cluster hardly wakes.
	RareHeartbeats bool
	// StartAfter is how long a pod takes to start, and RunFor how long a pod that ends
	// runs; by default no time and one second.
	StartAfter time.Duration
	RunFor     time.Duration
	// Events selects the events about pods and nodes that are written.
	Events Events
	// KubeletVersion is the version that the nodes report; by default the server's.
	KubeletVersion string
	// Definitions are the stages, and the answers of pods to logs, exec, attach and port-forward.
	Definitions *kwok.Definitions
	// Kinds are the kinds of definitions that the nodes install at the server as
	// CustomResourceDefinitions, and whose objects they follow. An object takes effect at once and
	// takes precedence over Definitions. See kwok.Kinds.
	Kinds []kwok.Definition
	// Listener, if set, is where the API of all nodes' kubelets is served; Run closes it.
	// Endpoint, if valid, is its address as the nodes report it; by default each reports its
	// own address and port 10250, which only this process can reach.
	Listener net.Listener
	Endpoint netip.AddrPort
	// PodWorkers is the number of pods that are written at a time; 32 by default.
	PodWorkers int
}

// Events is the set of events that the nodes write about their pods and themselves. Each event is a write to the
// server, more than half as expensive as that of the pod's status, so a kubelet's three for each container are not
// the default.
type Events int

const (
	// StartEvents writes one event for a pod whose containers have started or are killed, in place
	// of one for each container and step; and events of nodes that become healthy, are cordoned or
	// uncordoned, or have rebooted.
	StartEvents Events = iota
	// NoEvents writes no events.
	NoEvents
	// AllEvents writes all of a kubelet's events: Pulled, Created, Started and Killing for each
	// container, and how each node starts.
	AllEvents
)

// outageLease is the duration of the lease that a node with rare heartbeats leaves at the beginning of an outage.
const outageLease = 40 * time.Second

// statusPeriod returns the time between two status reports of a node without news.
func (o Options) statusPeriod() time.Duration {
	if o.RareHeartbeats {
		return time.Hour
	}
	return 5 * time.Minute
}

func (o Options) complete() Options {
	o.NamePrefix = cmp.Or(o.NamePrefix, "node-")
	if o.LeaseDuration == 0 && o.RareHeartbeats {
		o.LeaseDuration = time.Hour
	}
	o.LeaseDuration = cmp.Or(o.LeaseDuration, 40*time.Second)
	o.RunFor = cmp.Or(o.RunFor, time.Second)
	o.PodWorkers = cmp.Or(o.PodWorkers, 32)
	if o.Definitions == nil {
		o.Definitions = &kwok.Definitions{}
	}
	if !o.PodCIDR.IsValid() {
		o.PodCIDR = netip.MustParsePrefix("10.128.0.0/9")
	}
	if len(o.Families) == 0 {
		o.Families = []corev1.IPFamily{corev1.IPv4Protocol}
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
