package admission

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
)

// Result is a node's answer to a pod that asks to be admitted or resized. The zero value admits it.
type Result struct {
	Reason, Message string
	NeedsNode       bool // labels or resources of the Node object may change the answer
	// Preempts reports that other pods end first, and that the pod is admitted after that. Victims are those to
	// preempt now; the list is empty while earlier victims still end.
	Preempts bool
	Victims  []*corev1.Pod
}

// Attempt is the reason for which a pod asks.
type Attempt bool

const (
	Admit  Attempt = false // it has just been bound, perhaps not by a scheduler
	Resize Attempt = true  // it runs, and its resources change
)

// Resident is a pod that the node has admitted and that has not ended.
type Resident struct {
	Pod        *corev1.Pod // as its node knows it
	Allocation *Allocation // of the pod
	Preempted  bool        // the pod is about to end for a critical one
}

// Request is a pod that asks a node.
type Request struct {
	Pod        *corev1.Pod
	Attempt    Attempt
	Allocation *Allocation    // of the pod
	Node       *corev1.Node   // the labels and allocatable resources of the node
	Registered bool           // Node is the Node object, not a guess of it; without it there is no preemption
	Taints     []corev1.Taint // of the node, with the effect NoExecute
	Residents  iter.Seq[Resident]
}
