// Package nodelifecycle detects nodes without a heartbeat, and taints nodes by their conditions. The controller
// tainteviction evicts the pods that do not tolerate the taints.
//
// # Heartbeats
//
// A kubelet renews its Lease in kube-node-lease every few seconds. If neither the Lease nor the heartbeat of the
// node's Ready condition has changed for 50 s, by the local clock from the last observed change (60 s from its
// creation for a node without conditions), the node's conditions become Unknown and its pods not ready. With
// Options.HonorLeases, a node whose Lease is valid for longer than that has until the Lease expires.
//
// # Taints
//
// Conditions and spec.unschedulable are reflected in taints of effect NoSchedule. A new node has
// node.kubernetes.io/not-ready from its creation, set by the API server; only this controller removes it, when the
// node is ready. In a cluster without this controller, no pod is scheduled that doesn't tolerate the taint.
//
// A node that is not ready or unreachable is tainted NoExecute as well. These taints evict pods, so nodes are
// tainted one at a time: every 10 s in a zone; every 100 s in a zone of more than 50 nodes of which 55 % (and three
// or more) are not ready; never in a smaller zone like that. If no node at all is ready, the fault is more likely
// on the side of the control plane: then no node is tainted, and existing NoExecute taints are removed. Nodes
// labelled node.kubernetes.io/exclude-disruption do not count.
//
// # Versions
//
// A kubelet that is newer than the control plane, or more than three minor versions older, works as far as it can, as
// upstream; its node gets the event VersionSkew when the kubelet first reports that version. Simulated nodes are not
// compared: they report the version that they are told to.
//
// # Cost
//
// A renewed Lease costs one map update. A node is examined when it changes and when its grace period would be over. Work
// over all nodes happens only when the last node becomes NotReady and when the first one becomes ready again.
//
// # Concurrency
//
// There are one loop, for nodes and for pods to be marked, and the informer of the Leases. The heartbeats and the zones
// each have a lock of their own, which is not held during requests.
package nodelifecycle
