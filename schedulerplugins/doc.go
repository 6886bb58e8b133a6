// Package schedulerplugins runs plugins that were written for kube-scheduler's framework, k8s.io/kube-scheduler/framework, in
// this scheduler:
//
//	func main() {
//		if err := schedulerplugins.Command(schedulerplugins.WithPlugin("Racks", racks.New)).Execute(); err != nil {
//			os.Exit(1)
//		}
//	}
//
// takes the place of app.NewSchedulerCommand(app.WithPlugin("Racks", racks.New)). A KubeSchedulerConfiguration enables the
// plugins, orders them among the built-in ones and has their arguments. Run is the same without a command line, for tests.
//
// # Extension points and Handle
//
// All extension points of a pod: PreEnqueue, QueueSort, PreFilter, Filter, PostFilter, PreScore, Score, Reserve, Permit,
// PreBind, Bind and PostBind, and EnqueueExtensions with their hints. Built-in plugins stay those of package scheduler; a plugin
// of a built-in one's name is refused.
//
// The differences from kube-scheduler:
//
//   - SnapshotSharedLister reads the cluster itself, which does not change during a scheduling cycle.
//   - One goroutine runs all plugins of a scheduling cycle, and Parallelizer runs its pieces in turn.
//   - A simulated preemption calls PreFilter again, on the changed cluster, instead of PreFilterExtensions.
//   - Pods that are only nominated to a node count in its requests, and are not among its pods.
//   - APIDispatcher and APICacher are nil, as without the feature gate SchedulerAsyncAPICalls, and SignPod returns nil, as
//     without OpportunisticBatching.
//   - The state of a pod has no PodsToActivate, a type of k8s.io/kubernetes: a plugin calls Activate of its Handle instead.
//   - MutableSnapshotSharedLister only reads: no plugin runs at PodGroupPostFilter, the one point that may change it.
//   - There are no extension points of placements and pod groups: a plugin that is enabled at one is refused. One that calls
//     SharedDRAManager or another missing method of its Handle fails with the name of the method; in its factory, the program does not
//     start. The Less of a QueueSort, which cannot fail, must not call one.
//   - The pods of a PodGroup have no state of a placement (GetPlacementCycleState), and a hierarchy of groups may be deeper than
//     four levels for PodGroupManager.
//   - An own informer per resource feeds SharedInformerFactory, beside those of the scheduler. An attempt waits until those of pods
//     and nodes, if plugins use them, have come as far.
//
// # Concurrency
//
//  1. Plugins are called on the goroutine of the scheduling cycle, and from PreBind on (and while a pod waits on permit) on a
//     goroutine of the pod.
//  2. SnapshotSharedLister and the runners of plugins in Handle must be used only in a scheduling cycle; all else, PodGroupManager
//     included, may be used from any goroutine.
package schedulerplugins
