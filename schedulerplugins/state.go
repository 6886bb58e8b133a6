package schedulerplugins

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
)

// stateData are data of plugins by fwk.StateKey.
type stateData struct{ data sync.Map }

func (s *stateData) Write(key fwk.StateKey, val fwk.StateData) { s.data.Store(key, val) }
func (s *stateData) Delete(key fwk.StateKey)                   { s.data.Delete(key) }

func (s *stateData) Read(key fwk.StateKey) (fwk.StateData, error) {
	if v, ok := s.data.Load(key); ok {
		return v.(fwk.StateData), nil
	}
	return nil, fwk.ErrNotFound
}

// groupState has the data about one attempt to place a group.
type groupState struct{ stateData }

var _ fwk.PodGroupCycleState = &groupState{}

func (*groupState) ShouldRecordPluginMetrics() bool                       { return false }
func (*groupState) GetParentPlacementCycleState() fwk.PlacementCycleState { return nil }

// cycleState has the data about one attempt to place a pod.
type cycleState struct {
	stateData
	group                   *groupState // while the group of the pod is placed
	skipFilter, skipScore   sets.Set[string]
	skipPreBind, inParallel sets.Set[string]
}

var _ fwk.CycleState = &cycleState{}

func (s *cycleState) ShouldRecordPluginMetrics() bool                  { return false }
func (s *cycleState) GetSkipFilterPlugins() sets.Set[string]           { return s.skipFilter }
func (s *cycleState) SetSkipFilterPlugins(names sets.Set[string])      { s.skipFilter = names }
func (s *cycleState) GetSkipScorePlugins() sets.Set[string]            { return s.skipScore }
func (s *cycleState) SetSkipScorePlugins(names sets.Set[string])       { s.skipScore = names }
func (s *cycleState) GetSkipPreBindPlugins() sets.Set[string]          { return s.skipPreBind }
func (s *cycleState) SetSkipPreBindPlugins(names sets.Set[string])     { s.skipPreBind = names }
func (s *cycleState) GetParallelPreBindPlugins() sets.Set[string]      { return s.inParallel }
func (s *cycleState) SetParallelPreBindPlugins(names sets.Set[string]) { s.inParallel = names }
func (s *cycleState) ShouldSkipAllPostFilterPlugins() bool             { return false }
func (s *cycleState) IsPodGroupSchedulingCycle() bool                  { return s.group != nil }
func (s *cycleState) GetPlacementCycleState() fwk.PlacementCycleState  { return nil }

// GetPodGroupSchedulingCycle returns the data about the pod's group; nil outside of its attempt.
func (s *cycleState) GetPodGroupSchedulingCycle() fwk.PodGroupCycleState {
	if s.group == nil {
		return nil
	}
	return s.group
}

// Clone returns a copy whose data are copies too.
func (s *cycleState) Clone() fwk.CycleState {
	if s == nil {
		return nil
	}
	c := &cycleState{group: s.group, skipFilter: s.skipFilter, skipScore: s.skipScore, skipPreBind: s.skipPreBind, inParallel: s.inParallel}
	s.data.Range(func(key, v any) bool {
		c.data.Store(key, v.(fwk.StateData).Clone())
		return true
	})
	return c
}
