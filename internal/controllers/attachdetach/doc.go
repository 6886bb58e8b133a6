// Package attachdetach attaches the volumes of CSI drivers to the nodes of the pods that use them, and detaches them: it
// creates and deletes VolumeAttachments, and lists the attached volumes in the node's status.volumesAttached. The
// external-attacher of the driver does the work and sets status.attached.
//
// It serves nodes with the annotation volumes.kubernetes.io/controller-managed-attach-detach, which kubelets set and
// simulated nodes do not, and drivers whose CSIDriver does not say attachRequired: false. Simulated volumes are not attached.
// A volume that may be on one node only waits until it is detached from another one.
//
// A volume is detached when no running pod of the node uses it and the node does not list it in status.volumesInUse. It is
// detached from a node with the taint node.kubernetes.io/out-of-service at once, and from a node that is not ready
// after six minutes. Before that, it leaves the node's status.volumesAttached, so that the kubelet does not mount it.
//
// VolumeAttachments that were there at the start, under the names that this controller gives them, are its own;
// those that others create later are left alone until a pod needs them.
package attachdetach
