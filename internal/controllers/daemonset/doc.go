// Package daemonset is the DaemonSet controller: one pod on every node that the
// template's node selector, affinity and tolerations allow.
//
// A pod is made for its node by a required node affinity on the node's name, and the
// scheduler binds it. It tolerates what befalls nodes (not ready, unreachable, pressure,
// cordoned), so that it stays. A rolling update replaces pods in place as
// maxUnavailable allows, or makes the new one beside the old as maxSurge does; with
// OnDelete a node's pod takes the new template when someone deletes it. Templates are
// remembered as ControllerRevisions (podcontrol/history), and a pod tells its revision
// by the label controller-revision-hash.
//
// A pass looks at one DaemonSet and all nodes. A change of a node wakes the sets whose
// decision about that node it changes, not the others.
package daemonset
