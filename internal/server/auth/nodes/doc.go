// Package nodes authorizes kubelets: users of the group system:nodes whose name is
// system:node: and the name of a node. It gives what kube-apiserver's Node authorizer
// gives, in plugin/pkg/auth/authorizer/node.
//
// What is the same for all nodes is given by rules. What depends on the object is given
// only to the node it concerns:
//
//   - a pod that is bound to the node;
//   - a Secret, ConfigMap, PersistentVolumeClaim, ResourceClaim or ServiceAccount, or a
//     token of it, that such a pod refers to;
//   - a PersistentVolume that is bound to such a claim, and the Secrets by which a kubelet
//     mounts it;
//   - a VolumeAttachment, ResourceSlice or PodCertificateRequest that names the node;
//   - the node's own Node, Lease and CSINode.
//
// Lists and watches of pods, slices and certificate requests must select the node by a
// field selector. Whether what a node writes is its own is for the NodeRestriction
// admission plugin, which sees the object.
//
// There is no graph to keep: the watch cache finds the pods of a node by their field
// spec.nodeName, and what a pod refers to is kept beside it in the cache. An answer of "no"
// is given only after a read of what the store holds by then, so a kubelet that has seen
// its pod is allowed the pod's Secret, by any server of the cluster.
//
// # Concurrency
//
// The Authorizer may be used from any goroutine.
package nodes
