package node

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/dependencies"
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
	watched   *trace.Informer // the node's pods, for the trace
	heartbeat heartbeat       // owned by the worker that holds the node in the queue heartbeats
	pending   pendingStage    // owned by the worker that holds the node in stageQueue

	mu struct {
		sync.Mutex
		pods               map[types.UID]*pod
		ips                *addresses
		images             images
		revision           string                           // resourceVersion of the Node as last seen
		node               *corev1.Node                     // the Node as last seen; kept only for stages
		outage             bool                             // the Node has the annotation for an outage
		devices            bool                             // the Node has new capacity that is not allocatable yet
		cordoned           bool                             // spec.unschedulable when the node was last not in an outage
		taints             []corev1.Taint                   // of the Node, with the effect NoExecute
		objects            map[dependencies.Key]*usedObject // that pods use; nil until the first
		awaitingPreemption []types.UID                      // critical pods that wait for preempted ones to end
	}
}

// pod is a pod of a node. The node's lock guards it.
type pod struct {
	latest *corev1.Pod // the server's version, as last seen
	// decided is latest with its next status, from before the write until the next version is
	// seen: a node knows the state of its containers before the server does.
	decided        *corev1.Pod
	ip             netip.Addr // zero until the pod starts
	admitted       bool       // the node has admitted the pod
	evicted        time.Time  // when it was preempted; zero if it was not
	allocatedCache struct {
		of *corev1.Pod // the version; see allocated
		is resourceAmounts
	}
	// pending and released are owned by the worker that holds the pod in the queue work.
	pending  pendingStage
	released bool
	// changed is closed by the next version; nil as long as no caller waits for it.
	changed chan struct{}
	ends    time.Time // when its containers exit, more precisely than the whole seconds of the status
	needs   podDependencies
	// handed is when the latest version was queued, for the trace; 0 once a worker has it.
	handed trace.Instant
}

// podDependencies are the objects that a pod uses.
type podDependencies struct {
	known    bool // keys have been looked up
	fallible bool // see dependencies.Fallible
	keys     []dependencies.Key
	reported string                     // the mount errors of the last event
	finalEnv map[string][]corev1.EnvVar // of containers with commands, once the pod has ended
}

func (ns *Nodes) kubelet(i int) (*kubelet, error) {
	ip, err := ns.address(i)
	if err != nil {
		return nil, err
	}
	k := &kubelet{Nodes: ns, name: fmt.Sprintf("%s%d", ns.options.NamePrefix, i+1), index: i, ip: ip}
	cidr, err := podRange(ns.options.PodCIDR, i, ns.options.Capacity.Pods().Value())
	if err != nil {
		return nil, err
	}
	k.recorder = ns.env.Recorder.From("kubelet", k.name)
	k.watched = &trace.Informer{Agent: k.pods.UserAgent(), Resource: "pods", Fields: "spec.nodeName=" + k.name}
	k.mu.pods = map[types.UID]*pod{}
	k.mu.ips = newAddresses(cidr)
	return k, nil
}
