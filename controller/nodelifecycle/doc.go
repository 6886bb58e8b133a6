// Package nodelifecycle notices nodes that have fallen silent and marks what
// nodes suffer from.
//
// A kubelet renews its Lease in kube-node-lease every few seconds. When neither
// the Lease nor the node's status has changed for 50 s (60 s for a node never
// heard of), by our clock from the moment we saw the last change, the node's
// conditions become Unknown and its pods not ready. Conditions and
// spec.unschedulable are reflected in taints: NoSchedule for each, and NoExecute
// for a node that is not ready or unreachable. When no node at all is ready the
// fault is more likely ours than theirs: then no NoExecute taint is set, and
// those there are taken off.
//
// Pods are not evicted here.
//
// A renewed Lease costs a note of the time; a node is looked at when it changes
// and when its time would be up.
package nodelifecycle
