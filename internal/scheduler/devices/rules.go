package devices

import (
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// SetRule adds or replaces a rule that taints devices.
func (s *State) SetRule(r *resourcev1.DeviceTaintRule) {
	old := s.rules[r.Name]
	s.rules[r.Name] = r
	s.rulesChanged(old, r)
}

// RemoveRule removes a rule.
func (s *State) RemoveRule(name string) {
	old := s.rules[name]
	delete(s.rules, name)
	s.rulesChanged(old)
}

// rulesChanged taints the slices again that one of the rules selects, which may be nil.
func (s *State) rulesChanged(rules ...*resourcev1.DeviceTaintRule) {
	for _, slice := range s.slices {
		if slices.ContainsFunc(rules, func(r *resourcev1.DeviceTaintRule) bool { return r != nil && selectsSlice(r, slice) }) {
			s.show(s.pools[poolOf(slice)], slice)
		}
	}
}

// tainted returns a slice with the taints of all rules, in the order of their names; the slice itself if no rule
// selects one of its devices.
func (s *State) tainted(slice *resourcev1.ResourceSlice) *resourcev1.ResourceSlice {
	with := slice
	for _, name := range slices.Sorted(maps.Keys(s.rules)) {
		r := s.rules[name]
		if !selectsSlice(r, slice) {
			continue
		}
		for i := range slice.Spec.Devices {
			if device := r.Spec.DeviceSelector.Device; device != nil && *device != slice.Spec.Devices[i].Name {
				continue
			}
			if with == slice {
				with = slice.DeepCopy()
			}
			with.Spec.Devices[i].Taints = append(with.Spec.Devices[i].Taints, r.Spec.Taint)
		}
	}
	return with
}

// selectsSlice reports whether a rule selects the pool of a slice.
func selectsSlice(r *resourcev1.DeviceTaintRule, slice *resourcev1.ResourceSlice) bool {
	sel := r.Spec.DeviceSelector
	return sel != nil && (sel.Driver == nil || *sel.Driver == slice.Spec.Driver) && (sel.Pool == nil || *sel.Pool == slice.Spec.Pool.Name)
}
