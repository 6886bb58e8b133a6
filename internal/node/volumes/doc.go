// Package volumes is the CSI driver of simulated volumes as its users see it: it makes, enlarges and
// deletes PersistentVolumes, as the external-provisioner and the external-resizer do beside a driver.
//
// It serves the requests of the controller of persistent volumes, Fairlead's or kube-controller-manager's:
//
//   - a claim with the annotation volume.kubernetes.io/storage-provisioner: simulated.fairlead.dev gets a volume, which
//     that controller binds. A class with WaitForFirstConsumer has the claim annotated when the scheduler has selected a node; the volume can
//     then be reached from there alone.
//   - a volume of its making that is Released is deleted, if its reclaim policy says so.
//   - a claim that asks for more than its volume has gets it: at once if no running pod has mounted the volume, and
//     otherwise after a step that the kubelet of such a pod would do, the expansion of the file system, which is done here
//     too. The claim's status has the states of both (see package expansion).
//
// A volume has a capacity and no storage behind it; nodes mount it without a driver (see package dependencies).
package volumes
