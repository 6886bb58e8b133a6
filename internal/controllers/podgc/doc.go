// Package podgc removes pods that nobody will end any more:
//
//   - pods bound to a node that does not exist. The node gets 40 s to come back,
//     and the server is asked before its pods are given up;
//   - pods told to go that were never bound to a node;
//   - pods told to go on a node that is not ready and bears the taint
//     node.kubernetes.io/out-of-service;
//   - finished pods beyond a threshold, the oldest first.
//
// A pod that may still look alive is marked as failed before it is deleted, so
// that those who count pods see it end.
//
// Nothing is polled: a pass is caused by the pod or node that it is about.
package podgc
