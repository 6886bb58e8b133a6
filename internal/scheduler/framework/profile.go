package framework

// Profile is how the pods of one schedulerName are placed. The filters and scores may be
// the caller's own: see Filter, Reserver and Score.
type Profile struct {
	// Name is the schedulerName of the pods to place; default-scheduler if empty.
	Name string
	// Filters say which nodes can run a pod; those of DefaultProfile if there are none. They
	// are asked in this order, and the first that says no is the one that is told.
	Filters []Filter
	Scores  []WeightedScore
	// PercentageOfNodesToScore is the share of nodes that are looked for before the best of them is taken:
	// 100 is all, 0 a share that falls as the cluster grows, from all of a hundred nodes to
	// a twentieth of many thousands.
	PercentageOfNodesToScore int
	// NoPreemption leaves pods of lower priority alone.
	NoPreemption bool
	// Candidates are the nodes on which room is tried to be made before the best of them is
	// taken: this share of all in percent, but at least so many; 10 and 100 if both are zero.
	MinCandidateNodesPercentage, MinCandidateNodesAbsolute int
}
