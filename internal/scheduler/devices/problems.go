package devices

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// reportProblems reports the defects of the pools that may have devices for a node.
func (s *State) reportProblems(node string) {
	if s.Problem == nil {
		return
	}
	s.eachPool(node, func(p *pool) {
		current := p.current()
		if len(current) == 0 {
			return
		}
		reason, message := problem(current)
		if message != "" {
			message = fmt.Sprintf("pool %s, generation %d: %s; its devices are not allocated", p.id, current[0].Spec.Pool.Generation, message)
		}
		if message != "" && message != p.reported {
			s.Problem(current[0], reason, message)
		}
		p.reported = message
	})
}

// current returns the slices of the latest generation, and of these the first by name first.
func (p *pool) current() (all []*resourcev1.ResourceSlice) {
	for _, slice := range p.slices {
		switch {
		case len(all) == 0 || slice.Spec.Pool.Generation > all[0].Spec.Pool.Generation:
			all = []*resourcev1.ResourceSlice{slice}
		case slice.Spec.Pool.Generation == all[0].Spec.Pool.Generation:
			all = append(all, slice)
			if last := len(all) - 1; slice.Name < all[0].Name {
				all[0], all[last] = all[last], all[0]
			}
		}
	}
	return all
}

// problem returns why a pool's devices are not allocated; "" if they are.
func problem(all []*resourcev1.ResourceSlice) (reason, message string) {
	if want := all[0].Spec.Pool.ResourceSliceCount; int64(len(all)) != want {
		return "IncompleteResourcePool", fmt.Sprintf("%d of %d slices exist", len(all), want)
	}
	const invalid = "InvalidResourcePool"
	counters := map[string]map[string]resourcev1.Counter{}
	for _, slice := range all {
		for _, set := range slice.Spec.SharedCounters {
			if _, known := counters[set.Name]; known {
				return invalid, fmt.Sprintf("duplicate counter set name %s", set.Name)
			}
			counters[set.Name] = set.Counters
		}
	}
	names := sets.Set[string]{}
	for _, slice := range all {
		for _, d := range slice.Spec.Devices {
			if names.Has(d.Name) {
				return invalid, fmt.Sprintf("duplicate device name %s", d.Name)
			}
			names.Insert(d.Name)
			for _, use := range d.ConsumesCounters {
				set, ok := counters[use.CounterSet]
				if !ok {
					return invalid, fmt.Sprintf("device %s: counter set %s not found", d.Name, use.CounterSet)
				}
				for name := range use.Counters {
					if _, ok := set[name]; !ok {
						return invalid, fmt.Sprintf("device %s: counter %s not found in counter set %s", d.Name, name, use.CounterSet)
					}
				}
			}
		}
	}
	return "", ""
}
