package metrics

import "time"

// A Preemptor is the kind of object for which pods are preempted.
type Preemptor string

// The kinds of preemptors.
const (
	ByPod   Preemptor = "pod"
	ByGroup Preemptor = "podgroup"
)

// PreemptionSearched counts a search for victims, which began at start.
func (p *Profile) PreemptionSearched(by Preemptor, result Status, start time.Time) {
	p.m.searchTook.WithLabelValues(string(by), statusNames[result]).Observe(time.Since(start).Seconds())
}

// BudgetsViolated counts the violations of disruption budgets by a preemption.
func (p *Profile) BudgetsViolated(by Preemptor, violations int) {
	if violations > 0 {
		p.m.violations.WithLabelValues(string(by)).Add(float64(violations))
	}
}

// Evicted counts the eviction of the victims of a preemption, which began at start.
func (p *Profile) Evicted(by Preemptor, err error, start time.Time) {
	result := "success"
	if err != nil {
		result = "error"
	}
	p.m.evictionTook.WithLabelValues(string(by), result).Observe(time.Since(start).Seconds())
}

// GroupPreempted counts an attempt to preempt pods for a pod group, by its result.
func (p *Profile) GroupPreempted(result Status) {
	p.m.groupPreemptions.WithLabelValues(statusNames[result]).Inc()
}

// GroupVictims counts the victims of a preemption for a pod group, those units of them that are of pod groups, and the
// violations of disruption budgets.
func (p *Profile) GroupVictims(victims, units, violations int) {
	p.m.groupVictims.WithLabelValues().Observe(float64(victims))
	if units > 0 {
		p.m.groupDisruptions.WithLabelValues(string(ByGroup)).Observe(float64(units))
	}
	p.BudgetsViolated(ByGroup, violations)
}
