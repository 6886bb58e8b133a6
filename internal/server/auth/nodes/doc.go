// Package nodes authorizes kubelets: users of the group system:nodes named system:node:NODE. Its decisions are
// those of kube-apiserver's Node authorizer (plugin/pkg/auth/authorizer/node).
//
// Rights that are the same for all nodes come from rules. Other rights depend on the object, and only a node that
// the object concerns has them. Such objects are
//
//   - a pod bound to the node;
//   - a Secret, ConfigMap, PersistentVolumeClaim, ResourceClaim or ServiceAccount to
//     which such a pod refers, and tokens of that account;
//   - a PersistentVolume bound to such a claim, and the Secrets with which a kubelet
//     mounts it;
//   - a VolumeAttachment, ResourceSlice or PodCertificateRequest that names the node;
//   - the node's own Node, Lease and CSINode.
//
// Lists and watches of pods, slices and certificate requests must select the node by a field selector. The contents
// of a node's writes are checked by the NodeRestriction admission plugin, which sees the object.
//
// kube-apiserver also allows the Secrets of a PersistentVolume that names a claim which is bound to another volume. No
// kubelet mounts such a volume, and here both must name each other.
//
// No graph is maintained: the watch cache finds the pods of a node by their field spec.nodeName, and keeps each
// pod's references with it. A request is denied only after reading the store's present state, so a kubelet that has
// seen its pod is allowed the pod's Secret by any server of the cluster.
//
// # Concurrency
//
// The Authorizer may be used from any goroutine.
package nodes
