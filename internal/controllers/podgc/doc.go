// Package podgc deletes pods that no kubelet will terminate:
//
//   - pods bound to a node that does not exist. The node gets 40 s to come back,
//     and the server is asked before its pods are deleted;
//   - terminating pods that were never bound to a node;
//   - terminating pods on a node that is not ready and has the taint
//     node.kubernetes.io/out-of-service;
//   - finished pods beyond a threshold, the oldest first.
//
// A pod that may look alive is marked as failed before it is deleted, so that controllers that count pods see it
// end.
//
// The controller does not poll: a pass is caused by an event of its pod or node.
package podgc
