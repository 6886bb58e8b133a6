package framework

// A Profile configures how the pods of one schedulerName are placed. Its filters and scores may be
// the caller's own: see Filter, Reserver and Score.
type Profile struct {
	// Name is the schedulerName of the pods to place; default-scheduler if empty.
	Name string
	// Filters select the nodes that can run a pod; those of DefaultProfile if empty. They run in
	// this order, and the first one that rejects a node gives the reason.
	Filters []Filter
	Scores  []WeightedScore
	// PercentageOfNodesToScore is the percentage of the nodes that must be found feasible before
	// the best of them is taken: 100 is all, 0 a share that falls as the cluster grows, from all of
	// a hundred nodes to a twentieth of many thousands.
	PercentageOfNodesToScore int
	// NoPreemption disables preemption.
	NoPreemption bool
	// The candidates are the nodes on which a preemption is simulated before the best of them is
	// taken: this percentage of all nodes, but at least so many; 10 and 100 if both are zero.
	MinCandidateNodesPercentage, MinCandidateNodesAbsolute int
	// Extension runs plugins of another framework; nil without any.
	Extension Extension
}
