// Package tainteviction evicts the pods that do not tolerate the NoExecute taints of their node.
//
// A pod on a node with NoExecute taints is deleted, with the condition DisruptionTarget, unless it tolerates them
// all: at once, or after the shortest tolerationSeconds of the matching tolerations, counted from the decision. Events of the
// pod record an eviction, and that a planned one has been cancelled.
//
// A pod is examined when it is bound to a tainted node, when the taints change and when its toleration ends. The lock of the
// planned evictions is not held during requests.
package tainteviction
