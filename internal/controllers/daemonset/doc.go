// Package daemonset is the DaemonSet controller: one pod on every node that the template's node selector, affinity
// and tolerations allow.
//
// A pod is created for its node by a required node affinity for the node's name, and the scheduler binds it. It
// tolerates the conditions of nodes (not ready, unreachable, pressure, cordoned), so that it stays. A rolling
// update replaces pods in place within maxUnavailable, or creates the new one beside the old within maxSurge; with
// OnDelete a node's pod takes the new template when it is deleted. Templates are recorded as ControllerRevisions
// (podcontrol/history), and the label controller-revision-hash records a pod's revision.
//
// A pass examines one DaemonSet and all nodes. A change of a node wakes only the sets whose decision about that
// node it changes.
package daemonset
