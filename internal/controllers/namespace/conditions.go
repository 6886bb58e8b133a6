package namespace

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
)

// fine lists the conditions without a problem, in the order of the status.
var fine = []corev1.NamespaceCondition{
	{Type: corev1.NamespaceDeletionDiscoveryFailure, Reason: "ResourcesDiscovered", Message: "All resources successfully discovered"},
	{Type: corev1.NamespaceDeletionGVParsingFailure, Reason: "ParsedGroupVersions", Message: "All legacy kube types successfully parsed"},
	{Type: corev1.NamespaceDeletionContentFailure, Reason: "ContentDeleted", Message: "All content successfully deleted, may be waiting on finalization"},
	{Type: corev1.NamespaceContentRemaining, Reason: "ContentRemoved", Message: "All content successfully removed"},
	{Type: corev1.NamespaceFinalizersRemaining, Reason: "ContentHasNoFinalizers", Message: "All content-preserving finalizers finished"},
}

// conditions returns the conditions for the result of a sweep.
func (r *remainder) conditions() []corev1.NamespaceCondition {
	out := slices.Clone(fine)
	for i := range out {
		reason, message := r.complaint(out[i].Type)
		out[i].Status = corev1.ConditionFalse
		if reason != "" {
			out[i].Status, out[i].Reason, out[i].Message = corev1.ConditionTrue, reason, message
		}
	}
	return out
}

func (r *remainder) complaint(t corev1.NamespaceConditionType) (reason, message string) {
	switch {
	case t == corev1.NamespaceDeletionDiscoveryFailure && r.discoveryErr != nil:
		if missing := client.GroupDiscoveryError(nil); errors.As(r.discoveryErr, &missing) {
			return "DiscoveryFailed", fmt.Sprintf("Discovery failed for some groups, %d failing: %v", len(missing), missing)
		}
		return "DiscoveryFailed", r.discoveryErr.Error()
	case t == corev1.NamespaceDeletionContentFailure && len(r.mu.contentErr)+len(r.mu.unexpected) > 0:
		var all []string
		for _, err := range slices.Concat(r.mu.contentErr, r.mu.unexpected) {
			all = append(all, err.Error())
		}
		slices.Sort(all)
		return "ContentDeletionFailed", fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", len(all), strings.Join(all, ", "))
	case t == corev1.NamespaceContentRemaining && len(r.mu.items) > 0:
		return "SomeResourcesRemain", "Some resources are remaining: " + list(r.mu.items, func(gvr schema.GroupVersionResource, n int) string {
			return fmt.Sprintf("%s.%s has %d resource instances", gvr.Resource, gvr.Group, n)
		})
	case t == corev1.NamespaceFinalizersRemaining && len(r.mu.finalizers) > 0:
		return "SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: " + list(r.mu.finalizers, func(f string, n int) string {
			return fmt.Sprintf("%s in %d resource instances", f, n)
		})
	}
	return "", ""
}

func list[K comparable](m map[K]int, line func(K, int) string) string {
	var lines []string
	for k := range maps.Keys(m) {
		lines = append(lines, line(k, m[k]))
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// merge puts the conditions into the status, keeping the times of those whose status is unchanged, and reports
// whether anything changed.
func merge(s *corev1.NamespaceStatus, conditions []corev1.NamespaceCondition) (changed bool) {
	for _, c := range conditions {
		c.LastTransitionTime = metav1.Now()
		i := slices.IndexFunc(s.Conditions, func(old corev1.NamespaceCondition) bool { return old.Type == c.Type })
		if i < 0 {
			s.Conditions = append(s.Conditions, c)
			changed = true
			continue
		}
		old := s.Conditions[i]
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		if old.Status != c.Status || old.Reason != c.Reason || old.Message != c.Message {
			s.Conditions[i] = c
			changed = true
		}
	}
	return changed
}
