package resource

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/resource/plain"
)

// isValidMeta reports whether metadata is known to be valid apart from the name. In doubt it returns false.
func isValidMeta(namespaced bool, m metav1.Object) bool {
	ns := m.GetNamespace()
	if namespaced != (ns != "") || namespaced && !plain.Label(ns) || m.GetGeneration() < 0 || !plain.Labels(m.GetLabels()) {
		return false
	}
	size := 0
	for k, v := range m.GetAnnotations() {
		if size += len(k) + len(v); !plain.QualifiedAnyCase(k) {
			return false
		}
	}
	return size <= validation.TotalAnnotationSizeLimitB && isValidOwners(m.GetOwnerReferences()) &&
		isValidFinalizers(m.GetFinalizers()) && isValidEntries(m.GetManagedFields())
}

// isValidMetaUpdate reports whether changed metadata is known to be valid.
func isValidMetaUpdate(m, old metav1.Object) bool {
	born, was := m.GetCreationTimestamp(), old.GetCreationTimestamp()
	return isValidMeta(old.GetNamespace() != "", m) && m.GetDeletionTimestamp() == nil && old.GetDeletionTimestamp() == nil &&
		m.GetDeletionGracePeriodSeconds() == nil && old.GetDeletionGracePeriodSeconds() == nil &&
		m.GetResourceVersion() != "" && m.GetGeneration() >= old.GetGeneration() &&
		m.GetName() == old.GetName() && m.GetNamespace() == old.GetNamespace() && m.GetUID() == old.GetUID() && born.Equal(&was)
}

func isValidOwners(refs []metav1.OwnerReference) bool {
	controllers := 0
	for i := range refs {
		r := &refs[i]
		if group, version, ok := strings.Cut(r.APIVersion, "/"); ok {
			if group == "" || version == "" || strings.Contains(version, "/") {
				return false
			}
		} else if r.APIVersion == "" || r.Kind == "Event" {
			return false
		}
		if r.Kind == "" || r.Name == "" || r.UID == "" {
			return false
		}
		if r.Controller != nil && *r.Controller {
			controllers++
		}
	}
	return controllers < 2
}

func isValidFinalizers(list []string) bool {
	for _, f := range list {
		if !plain.Qualified(f) || len(list) > 1 && (f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents) {
			return false
		}
	}
	return true
}

func isValidEntries(entries []metav1.ManagedFieldsEntry) bool {
	for i := range entries {
		e := &entries[i]
		if e.Operation != metav1.ManagedFieldsOperationApply && e.Operation != metav1.ManagedFieldsOperationUpdate ||
			e.FieldsType != "FieldsV1" || !printable(e.Manager, 128) || !printable(e.Subresource, 256) {
			return false
		}
	}
	return true
}

func printable(s string, limit int) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return len(s) <= limit
}
