package managed

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Distinct keeps the last one of the entries that are one manager's, as a client's edits
// may have made them: who applies is known by name and subresource, who updates by
// version too.
func Distinct(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	same := func(a, b *metav1.ManagedFieldsEntry) bool {
		return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource &&
			(a.APIVersion == b.APIVersion || a.Operation == metav1.ManagedFieldsOperationApply)
	}
	var kept []metav1.ManagedFieldsEntry
	for i := range entries {
		if !slices.ContainsFunc(entries[i+1:], func(later metav1.ManagedFieldsEntry) bool { return same(&entries[i], &later) }) {
			kept = append(kept, entries[i])
		}
	}
	return kept
}
