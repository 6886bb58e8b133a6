// Package scheduler assigns pods to nodes, as kube-scheduler does.
//
// A pod without a node, whose schedulerName is that of a profile, goes through three steps: the
// filters select the nodes that can run it, the scores rate these nodes, and a Binding to the best
// one is posted. A pod that fits no node stays Pending: its condition PodScheduled and a
// FailedScheduling event give the reasons, node by node, in the words of kube-scheduler. It is
// tried again after an event that could make it fit, not by polling.
//
// Several profiles, each for the pods of one schedulerName, share a queue and a cluster. Profiles
// are made of Filters and Scores (DefaultProfile, or LoadConfig from a KubeSchedulerConfiguration),
// and a program can add its own: see the example. A Filter that is a Reserver reserves something
// when a pod gets its node and prepares the binding: the VolumeBinding plugin, for instance,
// chooses the volumes of claims that wait for their first consumer, and DynamicResources the devices
// of ResourceClaims.
//
// The pods of a PodGroup are scheduled as one (feature gate GenericWorkload): they wait until the group exists and has its
// minCount, are placed one after another, and are bound if as many fit as the group needs. Otherwise the attempt leaves no
// trace. A group with a topology constraint is tried in each domain, and takes the best one. If the server has no PodGroups,
// such a pod stays Pending with a message about it; the requirement is never ignored. The groups in a CompositePodGroup (feature
// gate CompositePodGroup) are scheduled as one with all others below the same root.
//
// Extenders of a configuration are asked over HTTP about the pods that concern them, on goroutines of their own and about one
// pod at a time. Other pods are placed meanwhile, so the answer counts as a further filter and score when it comes. An attempt for a
// group collects the questions about its pods, and is repeated with the answers until no further questions come up.
//
// # The plugin API
//
// The names and the order of the steps are those of kube-scheduler's framework. The differences:
//
//   - PreFilter and Filter are one interface. PreFilter returns the FilterFunc that checks each
//     node, a closure over all that it computed; it takes the place of CycleState. PreScore and
//     Score are connected in the same way by NodeScorer.
//   - PreFilter returns nil if every node passes. Upstream returns Skip.
//   - The node names of upstream's PreFilterResult are the method NodeNames of a NodeNameFilter.
//   - A Status is success, Unschedulable, Unresolvable (UnschedulableAndUnresolvable) or Failed
//     (Error), which ends the attempt.
//   - EventsToRegister returns the kinds of events, QueueingHint reports for one event whether to
//     try the pod again. Upstream joins both in ClusterEventWithHint.
//   - Reserve returns the functions of PreBind and of Unreserve, and Release, which frees what the
//     plugin counts in memory and is also called after a successful binding.
//   - A Filter that is a PreEnqueuer or a PostFilter has these points too. PostFilter returns a write
//     that may help, and runs before preemption, which is built in.
//   - Permit, Bind and PostBind plugins are run by an Extension of the profile, and Options.Less takes
//     the place of a QueueSort plugin; fairlead.dev/schedulerplugins has those of kube-scheduler.
//     Scheduling gates are built in, and so are the order by priority and the binder by default.
//   - Plugins read the live Cluster, not a snapshot, and only on the goroutine of the scheduling
//     cycle.
//
// # The model
//
// A Cluster holds the nodes and the pods on them. There is one, changed in place, and one goroutine
// owns it: the loop of Run. Other schedulers work on a snapshot, because their cycle takes
// milliseconds and runs beside the event handlers. Here a cycle takes tens of microseconds, so
// events wait in the mailbox until it is over.
//
// A scheduling cycle never looks at all pods. Rules about other pods ("how many of these run on
// that node") use a tally, which is kept for as long as rules use it and updated as pods come and
// go.
//
// # Concurrency
//
//  1. The loop goroutine owns queue and cluster, so neither has a lock. The model of the pod groups has one, for plugins that read it
//     by Attachment.Groups.
//  2. Informer handlers, binders and condition writers send to the loop through one bounded
//     mailbox. The loop reads the mailbox while it waits for anything, so a full mailbox delays
//     its senders but cannot block them forever.
//  3. A pod that was given a node counts on it from that moment as an assumed pod, until the watch
//     confirms the binding or the binder reports that it failed.
//  4. BindWorkers goroutines post bindings, ReportWorkers goroutines write pod conditions. The
//     loop waits for a free binder, so at most twice BindWorkers bindings are in progress. They
//     are a batch for the store, which commits together all writes that come while it syncs.
//  5. All that comes before a binding has a goroutine of the pod: PreBind functions, waiting for a
//     permission, evictions. A slow answer to these delays that pod alone.
package scheduler
