package plugins

import (
	"time"

	"fairlead.dev/internal/scheduler/cache"
)

// Args are the arguments of the plugins of one profile.
type Args struct {
	IgnoredResources                   *IgnoredResources
	Allocation                         Allocation
	Balanced                           []WeightedResource
	HardPodAffinityWeight              int64
	IgnorePreferredTermsOfExistingPods bool
	SpreadDefaults                     *SpreadDefaults
	BindTimeout                        time.Duration
	AddedAffinity                      *cache.RequiredNodeAffinity
	AddedPreferredAffinity             []cache.PreferredSchedulingTerm
	MinCandidateNodesPercentage        int
	MinCandidateNodesAbsolute          int
}

func DefaultArgs() *Args {
	return &Args{
		Allocation:                  Allocation{Resources: cpuAndMemory},
		Balanced:                    cpuAndMemory,
		HardPodAffinityWeight:       1,
		SpreadDefaults:              systemSpread,
		BindTimeout:                 10 * time.Minute,
		MinCandidateNodesPercentage: 10,
		MinCandidateNodesAbsolute:   100,
	}
}
