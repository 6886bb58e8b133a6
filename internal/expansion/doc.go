// Package expansion has the states of a PersistentVolumeClaim whose volume is expanded, as external-resizer and kubelets
// write them into its status:
//
//	Begin        the control plane expands the volume
//	AwaitNode    a node has to expand the file system
//	ExpandOnNode the node expands it
//	Finish       the claim has its new capacity
//
// Finish may follow Begin directly, if the driver needs no node.
package expansion
