// Package extenders calls the HTTP extenders of a KubeSchedulerConfiguration: programs that filter and score nodes, choose
// victims of a preemption, and bind pods, for all pods or for those that request resources of theirs.
//
// # Contract
//
// An extender is asked about the nodes that all filters of the profile have found feasible, so its answer may be late: other
// pods have been placed meanwhile. A [Verdict] is the answer of all extenders, in the form of a Filter and a Score, with which
// the pod is placed on the cluster as it is then.
//
// The calls, their JSON and their errors are those of kube-scheduler (k8s.io/kube-scheduler/extender/v1). An answer that names
// nodes or victims which were not in the question is an error. Errors of an extender that is ignorable are passed over.
//
// # Concurrency
//
// An Extender may be used from any goroutine. A Verdict's Filter and Score are used by the goroutine that owns the cluster.
package extenders
