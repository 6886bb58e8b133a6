package metrics

import "time"

// GroupPlaced counts the search for nodes for a pod group, which began at start.
func (p *Profile) GroupPlaced(start time.Time) {
	p.m.groupAlgorithmTook.WithLabelValues().Observe(time.Since(start).Seconds())
}

// GroupEnded counts an attempt for a pod group that began at start, by its result.
func (p *Profile) GroupEnded(result string, start time.Time) {
	p.m.groupAttempts.WithLabelValues(result, p.name).Inc()
	p.m.groupTook.WithLabelValues(result, p.name).Observe(time.Since(start).Seconds())
}

// PlacementsGenerated counts the topology domains in which a pod group might be placed.
func (p *Profile) PlacementsGenerated(n int) { p.m.placements.WithLabelValues(p.name).Add(float64(n)) }

// PlacementEvaluated counts an attempt to place a pod group in a topology domain, which began at start.
func (p *Profile) PlacementEvaluated(feasible bool, start time.Time) {
	result := "infeasible"
	if feasible {
		result = "feasible"
	}
	p.m.evaluated.WithLabelValues(result, p.name).Inc()
	p.m.placementTook.WithLabelValues(result, p.name).Observe(time.Since(start).Seconds())
}
