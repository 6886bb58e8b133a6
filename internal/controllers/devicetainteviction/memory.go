package devicetainteviction

import (
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/controller"
)

// Memory has the state of the controller that is not in the objects. The zero value is ready to use, by one controller at a
// time.
type Memory struct {
	mu struct {
		sync.Mutex
		planned map[controller.Key]types.UID // pods to be evicted
		rules   map[string]record            // by name
	}
}

// record has the work for one DeviceTaintRule.
type record struct {
	uid types.UID
	// reported is the generation of the latest spec that was reported in the status, or that failed to be.
	reported int64
	// evicted is the number of pods that the rule has evicted.
	evicted int64
}

// plan records that a pod is to be evicted.
func (m *Memory) plan(p *corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.planned == nil {
		m.mu.planned = map[controller.Key]types.UID{}
	}
	m.mu.planned[controller.KeyOf(p)] = p.UID
}

// cancel forgets the plan for the pod of a key, and returns the pod's UID, "" without a plan.
func (m *Memory) cancel(k controller.Key) types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	uid := m.mu.planned[k]
	delete(m.mu.planned, k)
	return uid
}

// planned returns the keys of the pods to be evicted.
func (m *Memory) planned() []controller.Key {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.mu.planned))
}

// of returns the record of a rule.
func (m *Memory) of(r *resourcev1.DeviceTaintRule) record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.get(r)
}

// get is of with mu held.
func (m *Memory) get(r *resourcev1.DeviceTaintRule) record {
	if rec := m.mu.rules[r.Name]; rec.uid == r.UID {
		return rec
	}
	return record{uid: r.UID}
}

// report records that the present spec of a rule has been reported.
func (m *Memory) report(r *resourcev1.DeviceTaintRule) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rec := m.get(r)
	rec.reported = r.Generation
	m.put(r, rec)
}

// count records that a rule has evicted a pod.
func (m *Memory) count(r *resourcev1.DeviceTaintRule) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rec := m.get(r)
	rec.evicted++
	m.put(r, rec)
}

// put stores the record of a rule; mu is held.
func (m *Memory) put(r *resourcev1.DeviceTaintRule, rec record) {
	if m.mu.rules == nil {
		m.mu.rules = map[string]record{}
	}
	m.mu.rules[r.Name] = rec
}

// forget drops the record of a rule that is gone.
func (m *Memory) forget(r *resourcev1.DeviceTaintRule) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.rules[r.Name].uid == r.UID {
		delete(m.mu.rules, r.Name)
	}
}
