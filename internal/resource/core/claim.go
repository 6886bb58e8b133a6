package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var claimTable = resource.TableOf(claimRow,
	resource.NameColumn,
	resource.Text("Status", "Whether the claim has a volume."),
	resource.Text("Volume", "The volume that the claim has."),
	resource.Text("Capacity", "The volume's size."),
	resource.Text("Access Modes", "How the volume can be mounted."),
	resource.Text("StorageClass", "The class of storage that is claimed."),
	resource.Text("VolumeAttributesClass", "The class of attributes that is claimed."),
	resource.AgeColumn,
	resource.WideOnly(resource.Text("VolumeMode", "Whether the volume is a file system or a block device.")),
)

func claimRow(c *corev1.PersistentVolumeClaim) []any {
	capacity, modes := "", ""
	if c.Spec.VolumeName != "" {
		modes = accessModes(c.Status.AccessModes)
		size := c.Status.Capacity[corev1.ResourceStorage]
		capacity = size.String()
	}
	return []any{
		c.Name, unlessTerminating(c, string(c.Status.Phase)), c.Spec.VolumeName, capacity, modes,
		storageClass(c, ptr.Deref(c.Spec.StorageClassName, "")),
		ptr.Deref(c.Spec.VolumeAttributesClassName, resource.Unset),
		resource.AgeOf(c), volumeMode(c.Spec.VolumeMode),
	}
}

func claimStrategy() resource.Strategy {
	r := resource.SpecAndStatus(func(c *corev1.PersistentVolumeClaim) (*corev1.PersistentVolumeClaimSpec, *corev1.PersistentVolumeClaimStatus) {
		return &c.Spec, &c.Status
	})
	r.Default = func(c *corev1.PersistentVolumeClaim) {
		podspec.DefaultClaim(&c.Spec)
		podspec.RoundUp(c.Status.Capacity)
		podspec.RoundUp(c.Status.AllocatedResources)
		if c.Status.Phase == "" {
			c.Status.Phase = corev1.ClaimPending
		}
	}
	update := r.PrepareForUpdate
	r.PrepareForCreate = func(c *corev1.PersistentVolumeClaim) {
		c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
		dropUnknownDataSource(&c.Spec)
		onlyOwnSource(&c.Spec)
		syncDataSources(&c.Spec)
	}
	r.PrepareForUpdate = func(c, old *corev1.PersistentVolumeClaim) {
		update(c, old)
		if old.Spec.DataSource == nil {
			dropUnknownDataSource(&c.Spec)
		}
		if old.Spec.DataSourceRef == nil {
			onlyOwnSource(&c.Spec)
		}
		syncDataSources(&c.Spec)
	}
	r.ValidateStatusUpdate = validateClaimStatus
	r.Validate = func(c *corev1.PersistentVolumeClaim) field.ErrorList {
		var f check.Errors
		podspec.ClaimSpec(&f, check.At("spec"), &c.Spec)
		return f.List()
	}
	r.ValidateUpdate = validateClaimUpdate
	r.Warnings = func(c *corev1.PersistentVolumeClaim) (list []string) {
		if _, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
			list = append(list, fmt.Sprintf("metadata.annotations[%s]: deprecated since v1.8; use \"storageClassName\" attribute instead", corev1.BetaStorageClassAnnotation))
		}
		return append(list, podspec.ClaimWarnings(check.At("spec"), &c.Spec)...)
	}
	return r.Strategy()
}

// dropUnknownDataSource clears a data source that is neither a claim nor a snapshot: the older of the two fields never
// accepted others.
func dropUnknownDataSource(s *corev1.PersistentVolumeClaimSpec) {
	d := s.DataSource
	if d == nil || s.DataSourceRef != nil {
		return
	}
	group := ptr.Deref(d.APIGroup, "")
	if group == "" && d.Kind == "PersistentVolumeClaim" || group == "snapshot.storage.k8s.io" && d.Kind == "VolumeSnapshot" {
		return
	}
	s.DataSource = nil
}

// onlyOwnSource clears a data source in another namespace: the feature is disabled.
func onlyOwnSource(s *corev1.PersistentVolumeClaimSpec) {
	if r := s.DataSourceRef; r != nil && ptr.Deref(r.Namespace, "") != "" {
		s.DataSourceRef = nil
	}
}

// syncDataSources sets the older and the newer data source field to the same value.
func syncDataSources(s *corev1.PersistentVolumeClaimSpec) {
	switch d, r := s.DataSource, s.DataSourceRef; {
	case d != nil && r == nil:
		s.DataSourceRef = &corev1.TypedObjectReference{APIGroup: d.APIGroup, Kind: d.Kind, Name: d.Name}
	case d == nil && r != nil && ptr.Deref(r.Namespace, "") == "":
		s.DataSource = &corev1.TypedLocalObjectReference{APIGroup: r.APIGroup, Kind: r.Kind, Name: r.Name}
	}
}

func validateClaimUpdate(c, old *corev1.PersistentVolumeClaim) field.ErrorList {
	var f check.Errors
	p := check.At("spec")
	podspec.ClaimSpec(&f, p, &c.Spec)
	// Undo mutable fields; the rest must then be equal.
	now, was := c.Spec.DeepCopy(), old.Spec.DeepCopy()
	if was.VolumeName == "" {
		was.VolumeName = now.VolumeName
	}
	key := corev1.BetaStorageClassAnnotation
	annotated, hasOld := old.Annotations[key]
	if class := now.StorageClassName; class != nil && was.StorageClassName == nil && (!hasOld || *class == annotated) {
		now.StorageClassName = nil // a class may be set later
	} else if c.Annotations[key] != annotated {
		f.Invalid(check.At("metadata", "annotations").Key(key), c.Annotations[key], "field is immutable")
	}
	if c.Status.Phase == corev1.ClaimBound {
		if now.Resources.Requests != nil {
			now.Resources.Requests[corev1.ResourceStorage] = was.Resources.Requests[corev1.ResourceStorage]
		}
		now.VolumeAttributesClassName = was.VolumeAttributesClassName
	}
	if !apiequality.Semantic.DeepEqual(now, was) {
		f.Forbidden(p, fmt.Sprintf("spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n%v", diff.Diff(*was, *now)))
	}
	size, before := c.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage]
	if size.Cmp(before) < 0 && size.Cmp(old.Status.Capacity[corev1.ResourceStorage]) <= 0 {
		f.Forbidden(p.Child("resources", "requests", "storage"), "field can not be less than status.capacity")
	}
	f.Same(check.At("volumeMode"), c.Spec.VolumeMode, old.Spec.VolumeMode)
	if old.Status.CurrentVolumeAttributesClassName != nil && ptr.Deref(old.Spec.VolumeAttributesClassName, "") != "" {
		at := p.Child("volumeAttributesClassName")
		if class := c.Spec.VolumeAttributesClassName; class == nil {
			f.Forbidden(at, "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil")
		} else if *class == "" {
			f.Forbidden(at, "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil")
		}
	}
	return f.List()
}
