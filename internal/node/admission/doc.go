// Package admission decides whether a node takes a pod, or grants a resize, beside the pods that it has admitted:
// resources, host ports, node affinity, taints, sysctls, and which pods end for a critical one. Order and wording
// of the reasons are a kubelet's.
//
//	result := admission.Request{Pod: pod, Node: node, Residents: residents, ...}.Decide()
//
// The package only computes: the caller supplies the pods of the node, under its lock, and carries out a preemption.
package admission
