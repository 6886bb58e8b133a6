// Package nodes answers what kubelets may do: users of the group system:nodes
// whose name is system:node: and the name of a node.
//
// What is the same for all nodes is given by rules. What depends on the object
// is granted only to the node it concerns: a Secret, a ConfigMap, a claim, a
// service account or its token if a pod that is bound to the node uses it, a
// persistent volume if such a claim is bound to it, a volume attachment of the
// node, and the node's own lease and CSINode. What is not known to concern the
// node is refused; that goes for resource claims too, which are not followed
// here. Whether a node writes only to its own Node and pods is not asked: that
// is for admission.
//
// # Concurrency
//
// The Authorizer may be used from any goroutine.
package nodes
