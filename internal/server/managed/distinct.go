package managed

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Distinct removes duplicate entries of one manager, which a client's edits may have produced, and keeps the last
// one. Appliers are identified by name and subresource, updaters by version too.
func Distinct(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	type manager struct {
		name, subresource, version string
		operation                  metav1.ManagedFieldsOperationType
	}
	who := func(e *metav1.ManagedFieldsEntry) manager {
		m := manager{name: e.Manager, subresource: e.Subresource, operation: e.Operation}
		if e.Operation != metav1.ManagedFieldsOperationApply {
			m.version = e.APIVersion
		}
		return m
	}
	last := make(map[manager]int, len(entries))
	for i := range entries {
		last[who(&entries[i])] = i
	}
	kept := make([]metav1.ManagedFieldsEntry, 0, len(last))
	for i := range entries {
		if last[who(&entries[i])] == i {
			kept = append(kept, entries[i])
		}
	}
	return kept
}
