package eviction

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/node/kubeletconfig"
)

// Manager follows the pressure on one node. Make it with New.
type Manager struct {
	thresholds []Threshold
	transition time.Duration
	first      map[int]time.Time // since when thresholds are met, by index
	acted      map[int]bool      // thresholds on which to act until enough is reclaimed
	last       map[corev1.NodeConditionType]time.Time
}

// Observation is how much of a resource a node has left, in bytes or numbers.
type Observation struct{ Available, Capacity int64 }

// Observations are those of a moment. A signal that is missing is not observed.
type Observations map[Signal]Observation

// Pressure is the outcome of observations.
type Pressure struct {
	Conditions []corev1.NodeConditionType // that are True, sorted
	Act        []Threshold                // those for which a pod has to end; the first of them decides which
}

// New returns a manager for a node without pressure.
func New(c *kubeletconfig.Config) (*Manager, error) {
	all, err := thresholds(c)
	if err != nil {
		return nil, err
	}
	return &Manager{
		thresholds: all, transition: c.EvictionPressureTransitionPeriod.Duration,
		first: map[int]time.Time{}, acted: map[int]bool{}, last: map[corev1.NodeConditionType]time.Time{},
	}, nil
}

// Observe compares observations with the thresholds. A condition that has been True stays so for the transition period
// after the last observation of its threshold.
func (m *Manager) Observe(seen Observations, now time.Time) (p Pressure) {
	for i, t := range m.thresholds {
		o, ok := seen[t.Signal]
		if !ok || !t.met(o, m.acted[i]) {
			delete(m.first, i)
			delete(m.acted, i)
			continue
		}
		if m.first[i].IsZero() {
			m.first[i] = now
		}
		m.last[signals[t.Signal].condition] = now
		if m.acted[i] = now.Sub(m.first[i]) >= t.Grace; m.acted[i] {
			p.Act = append(p.Act, t)
		}
	}
	for condition, at := range m.last {
		if now.Sub(at) < m.transition {
			p.Conditions = append(p.Conditions, condition)
		} else {
			delete(m.last, condition)
		}
	}
	slices.Sort(p.Conditions)
	return p
}

// met reports whether less than the threshold is available; if pods have ended for it, less than that and the surplus.
func (t *Threshold) met(o Observation, acted bool) bool {
	least := t.Value.Of(o.Capacity).DeepCopy()
	if acted {
		least.Add(*t.Reclaim.Of(o.Capacity))
	}
	return least.Cmp(*resource.NewQuantity(o.Available, resource.BinarySI)) > 0
}

// Hard returns the amounts of the hard thresholds by resource, which are not allocatable.
func (m *Manager) Hard(capacity corev1.ResourceList) map[corev1.ResourceName]resource.Quantity {
	all := map[corev1.ResourceName]resource.Quantity{}
	for _, t := range m.thresholds {
		if t.Hard && (t.Signal == Memory || t.Signal == NodeFS) {
			of := capacity[t.Signal.Resource()]
			all[t.Signal.Resource()] = *t.Value.Of(of.Value())
		}
	}
	return all
}

// Rejection returns the message with which a node under pressure rejects a pod; "" if it takes it. Critical pods are
// taken, and under pressure of memory alone also those that request resources or tolerate it.
func Rejection(under []corev1.NodeConditionType, qos corev1.PodQOSClass, critical, tolerates bool) string {
	if len(under) == 0 || critical {
		return ""
	}
	if len(under) == 1 && under[0] == corev1.NodeMemoryPressure && (qos != corev1.PodQOSBestEffort || tolerates) {
		return ""
	}
	return conditionMessage(under)
}
