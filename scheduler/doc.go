// Package scheduler gives pods a node, as kube-scheduler does.
//
// A pod without a node, whose schedulerName is ours, goes through three steps: the
// filters say which nodes can run it, the scores say which of those is best, and a
// Binding is posted. A pod that fits nowhere stays Pending: its condition PodScheduled
// and a FailedScheduling event say why, node by node, in the words of kube-scheduler, and
// it is tried again when something happens that could help it, not by polling.
//
// Several profiles, each for the pods of one schedulerName, share a queue and a cluster.
// Profiles are made of Filters and Scores (DefaultProfile, or LoadConfig from a
// KubeSchedulerConfiguration), and a program can add its own: see the example. A Filter
// that is a Reserver sets something aside when a pod gets its node and does what must be
// done before the binding, as the one for volumes does, which chooses the volumes of
// claims that wait for their first consumer.
//
// A rule that a pod requires and that this scheduler does not know how to keep (dynamic
// resource claims, gangs) holds the pod back with a message that says so; it is never
// ignored.
//
// # The model
//
// Cluster is the scheduler's picture of nodes and of the pods on them. There is one, it
// is changed in place, and one goroutine owns it: the loop of Run. Others schedule from a
// snapshot, because their cycle takes milliseconds and runs beside the event handlers;
// here a cycle takes tens of microseconds, so the events simply wait in the mailbox until
// it is over, and there is no snapshot to keep up.
//
// Placing a pod never looks at all pods. What a rule needs to know about other pods
// ("how many of these run on that node") is a tally, kept for as long as it is asked
// for and updated as pods come and go.
//
// # Concurrency
//
//  1. The loop goroutine owns queue and cluster; nothing in them is locked.
//  2. Informer handlers, binders and reporters speak to the loop through one bounded
//     mailbox. The loop reads the mailbox while it waits for anything, so a full mailbox
//     delays its senders and blocks nobody for good.
//  3. A pod that was given a node counts on it from that moment (it is assumed), until
//     the watch confirms the binding or the binder reports that it failed.
//  4. Bindings are posted by BindWorkers goroutines, pod conditions by ReportWorkers;
//     the loop waits for a free binder, so no more than twice that many are under way. They
//     are a batch to the store, which commits together what comes while it syncs. A pod
//     whose volumes must be bound first has a goroutine until they are.
package scheduler
