package core

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

var claimResizeStatuses = []corev1.ClaimResourceStatus{
	corev1.PersistentVolumeClaimControllerResizeInProgress, corev1.PersistentVolumeClaimControllerResizeInfeasible,
	corev1.PersistentVolumeClaimNodeResizeInProgress, corev1.PersistentVolumeClaimNodeResizeInfeasible,
	corev1.PersistentVolumeClaimNodeResizePending,
}

func validateClaimStatus(c, _ *corev1.PersistentVolumeClaim) field.ErrorList {
	var f check.Errors
	if c.ResourceVersion == "" {
		f.Required(check.At("resourceVersion"), "")
	}
	if len(c.Spec.AccessModes) == 0 {
		f.Required(check.At("Spec", "accessModes"), "")
	}
	p, s := check.At("status"), &c.Status
	for _, name := range check.Names(s.Capacity) {
		claimQuantity(&f, p.Child("capacity").Key(string(name)), s.Capacity[name])
	}
	at := p.Child("allocatedResourceStatuses")
	for name, status := range s.AllocatedResourceStatuses {
		claimResourceName(&f, at, name)
		if !slices.Contains(claimResizeStatuses, status) {
			f.Add(field.NotSupported(at.Field(), name, claimResizeStatuses))
		}
	}
	at = p.Child("allocatedResources")
	for _, name := range check.Names(s.AllocatedResources) {
		if claimResourceName(&f, at, name) {
			claimQuantity(&f, at.Key(string(name)), s.AllocatedResources[name])
		}
	}
	return f.List()
}

func claimQuantity(f *check.Errors, p *check.Path, q resource.Quantity) {
	if q.Value() < 0 {
		f.Invalid(p, q.Value(), "must be a valid resource quantity")
	}
}

// claimResourceName requires storage or a resource with a domain of its own, and reports whether it is one.
func claimResourceName(f *check.Errors, p *check.Path, name corev1.ResourceName) bool {
	n := f.Len()
	f.Qualified(p, string(name))
	if f.Len() == n && check.IsNative(name) && name != corev1.ResourceStorage {
		f.Add(field.NotSupported(p.Field(), name, []corev1.ResourceName{corev1.ResourceStorage}))
	}
	return f.Len() == n
}
