// Package storageversion makes the summary of a StorageVersion from the reports of its API servers.
package storageversion

import (
	"time"

	"k8s.io/api/apiserverinternal/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/condition"
)

// Common returns the version in which all servers store the resource; nil if they differ, or if there is no server.
func Common(servers []v1alpha1.ServerStorageVersion) *string {
	if len(servers) == 0 {
		return nil
	}
	common := servers[0].EncodingVersion
	for _, s := range servers[1:] {
		if s.EncodingVersion != common {
			return nil
		}
	}
	return &common
}

// Summarize sets the common version, and the condition that tells whether there is one. The condition has a new transition time
// also when one common version follows another.
func Summarize(v *v1alpha1.StorageVersion, now time.Time) {
	before := v.Status.CommonEncodingVersion
	common := Common(v.Status.StorageVersions)
	v.Status.CommonEncodingVersion = common
	next := v1alpha1.StorageVersionCondition{
		Type: v1alpha1.AllEncodingVersionsEqual, Status: v1alpha1.ConditionFalse, ObservedGeneration: v.Generation, LastTransitionTime: metav1.NewTime(now),
		Reason: "CommonEncodingVersionUnset", Message: "Common encoding version unset",
	}
	if common != nil {
		next.Status, next.Reason, next.Message = v1alpha1.ConditionTrue, "CommonEncodingVersionSet", "Common encoding version set"
	}
	old := condition.Find(v.Status.Conditions, func(c *v1alpha1.StorageVersionCondition) bool { return c.Type == next.Type })
	if old == nil {
		v.Status.Conditions = append(v.Status.Conditions, next)
		return
	}
	changed := before != nil && common != nil && *before != *common
	if old.Status == next.Status && !changed {
		next.LastTransitionTime = old.LastTransitionTime
	}
	*old = next
}
