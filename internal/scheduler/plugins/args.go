package plugins

import (
	"time"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/dynamicresources"
	"fairlead.dev/internal/scheduler/framework"
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
	StorageShape                       framework.Shape // of VolumeBinding
	AddedAffinity                      *cache.RequiredNodeAffinity
	AddedPreferredAffinity             []cache.PreferredSchedulingTerm
	MinCandidateNodesPercentage        int
	MinCandidateNodesAbsolute          int
	Devices                            dynamicresources.Plugin
}

func DefaultArgs() *Args {
	return &Args{
		Allocation:                  Allocation{Resources: cpuAndMemory},
		Balanced:                    cpuAndMemory,
		HardPodAffinityWeight:       1,
		SpreadDefaults:              systemSpread,
		BindTimeout:                 10 * time.Minute,
		StorageShape:                framework.Shape{{Utilization: 0, Score: 100}, {Utilization: 100, Score: 0}},
		MinCandidateNodesPercentage: 10,
		MinCandidateNodesAbsolute:   100,
		Devices:                     dynamicresources.Plugin{FilterTimeout: 10 * time.Second, BindingTimeout: 10 * time.Minute},
	}
}
