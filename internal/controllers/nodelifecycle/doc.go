// Package nodelifecycle notices nodes that have fallen silent, marks nodes with
// what they suffer from, and removes the pods that don't tolerate it.
//
// # Silence
//
// A kubelet renews its Lease in kube-node-lease every few seconds. When neither
// the Lease nor the heartbeat of the node's Ready condition has changed for 50 s,
// by our clock from the moment we saw the last change (60 s from its creation for
// a node that never said how it is), the node's conditions become Unknown and its
// pods not ready.
//
// # Taints
//
// Conditions and spec.unschedulable show in taints of effect NoSchedule. A new
// node carries node.kubernetes.io/not-ready from its creation, put there by the
// API server; this controller takes it off when the node is ready, and nobody
// else does: in a cluster without it no pod is scheduled that doesn't tolerate
// the taint.
//
// A node that is not ready or unreachable is tainted NoExecute as well. These
// taints drive pods away, so they come one node at a time: every 10 s in a zone;
// every 100 s in a zone of more than 50 nodes of which 55 % (and three or more)
// are not ready; never in a smaller zone like that. When no node at all is ready
// the fault is more likely ours than theirs: then there are none, and those there
// were are taken off. Nodes labelled node.kubernetes.io/exclude-disruption count
// for none of this.
//
// # Eviction
//
// A pod on a node with NoExecute taints is deleted, with the condition
// DisruptionTarget, unless it tolerates them all: at once, or after the shortest
// tolerationSeconds of the tolerations that it stays by, counted from when we saw
// that it has to go.
//
// # Cost
//
// A renewed Lease costs a note of the time. A node is looked at when it changes
// and when its time would be up; a pod when it lands on a tainted node, when the
// taints change and when its time is up. Nothing goes over all nodes, but for the
// moments in which the last node stops being ready and the first one is again.
//
// # Concurrency
//
// Two loops, one of nodes and of pods to be marked, one of pods to be evicted, and
// the informer of the Leases. The heartbeats, the zones and the plans of eviction
// each have a lock of their own, held for no call.
package nodelifecycle
