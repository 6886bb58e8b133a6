// Package persistentvolumeexpander begins the expansion of volumes whose claim requests more than it has, as
// kube-controller-manager's persistentvolume-expander-controller does:
//
//   - Volumes of CSI drivers, and of kinds that cannot be expanded, are left to an external controller. An event of the
//     claim records that. The external-resizer beside the driver follows claims by itself; the one of simulated volumes is
//     part of the nodes.
//   - Volumes of Kubernetes' former built-in drivers are left to the CSI driver that has replaced theirs. An annotation of
//     the claim names it.
//   - A FlexVolume is expanded by kubelets. Its new capacity and the state of the claim tell them to.
package persistentvolumeexpander
