package node

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/addresses"
	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/node/images"
	"fairlead.dev/internal/node/objectcache"
	"fairlead.dev/internal/node/stage"
	"fairlead.dev/trace"
)

// podKey identifies a pod of a node.
type podKey struct {
	node *kubelet
	uid  types.UID
}

// kubelet is one simulated node.
type kubelet struct {
	*Nodes
	name      string
	index     int // from 0
	ip        netip.Addr
	recorder  *client.Recorder
	watched   *trace.Informer    // the node's pods, for the trace
	objects   *objectcache.Cache // that pods use; its lock follows mu
	heartbeat heartbeat          // owned by the worker that holds the node in the queue heartbeats
	choice    stage.Choice       // for the Node; owned by the worker that holds the node in stageQueue

	mu struct {
		sync.Mutex
		pods               map[types.UID]*pod
		ips                *addresses.Pool
		images             images.Pulled
		revision           string         // resourceVersion of the Node as last seen
		node               *corev1.Node   // the Node as last seen; kept only for stages
		outage             bool           // the Node has the annotation for an outage
		devices            bool           // the Node has new capacity that is not allocatable yet
		cordoned           bool           // spec.unschedulable when the node was last not in an outage
		taints             []corev1.Taint // of the Node, with the effect NoExecute
		awaitingPreemption []types.UID    // critical pods that wait for preempted ones to end
	}
}

// pod is a pod of a node. The node's lock guards it.
type pod struct {
	latest *corev1.Pod // the server's version, as last seen
	// decided is latest with its next change, from before the write until the next version is
	// seen: a node knows the state of its containers before the server does.
	decided    *corev1.Pod
	ip         netip.Addr // zero until the pod starts
	admitted   bool       // the node has admitted the pod
	preempted  time.Time  // zero if it was not
	allocation admission.Allocation
	// choice and released are owned by the worker that holds the pod in the queue work.
	choice   stage.Choice
	released bool
	// changed is closed by the next version; nil as long as no caller waits for it.
	changed chan struct{}
	ends    time.Time       // when its containers exit, more precisely than the whole seconds of the status
	objects objectcache.Use // guarded by the cache
	// handed is when the latest version was queued, for the trace; 0 once a worker has it.
	handed trace.Instant
}

func (ns *Nodes) kubelet(i int) (*kubelet, error) {
	ip, err := ns.address(i)
	if err != nil {
		return nil, err
	}
	k := &kubelet{Nodes: ns, name: fmt.Sprintf("%s%d", ns.options.NamePrefix, i+1), index: i, ip: ip}
	cidr, err := addresses.PodRange(ns.options.PodCIDR, i, ns.options.Capacity.Pods().Value())
	if err != nil {
		return nil, err
	}
	k.recorder = ns.env.Recorder.From("kubelet", k.name)
	k.watched = &trace.Informer{Agent: k.pods.UserAgent(), Resource: "pods", Fields: "spec.nodeName=" + k.name}
	k.objects = objectcache.New(objectcache.Options{
		Client: ns.env.Client, Log: ns.env.Log, Node: k.name, Capacity: ns.options.Capacity, Lists: ns.joining, Watches: &ns.watching,
		Changed: func(uid types.UID) { ns.work.Add(podKey{k, uid}) },
	})
	k.mu.pods = map[types.UID]*pod{}
	k.mu.ips = addresses.New(cidr)
	return k, nil
}
