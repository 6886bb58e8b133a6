package storage

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var attachmentTable = resource.TableOf(func(a *storagev1.VolumeAttachment) []any {
	return []any{
		a.Name, a.Spec.Attacher, ptr.Deref(a.Spec.Source.PersistentVolumeName, ""), a.Spec.NodeName, a.Status.Attached, resource.AgeOf(a),
	}
},
	resource.NameColumn,
	metav1.TableColumnDefinition{Name: "Attacher", Type: "string", Format: "name", Description: "The driver that attaches the volume."},
	resource.Text("PV", "The volume."),
	resource.Text("Node", "The node it is attached to."),
	resource.Boolean("Attached", "Whether it is attached."),
	resource.AgeColumn,
)

func attachmentStrategy() resource.Strategy {
	r := resource.SpecAndStatus(func(a *storagev1.VolumeAttachment) (*storagev1.VolumeAttachmentSpec, *storagev1.VolumeAttachmentStatus) {
		return &a.Spec, &a.Status
	}).KeepMeta()
	r.Default = func(a *storagev1.VolumeAttachment) {
		if s := a.Spec.Source.InlineVolumeSpec; s != nil {
			podspec.DefaultVolumeSource(&s.PersistentVolumeSource)
			podspec.RoundUp(s.Capacity)
		}
	}
	r.Validate = validateAttachment
	r.ValidateUpdate = func(a, old *storagev1.VolumeAttachment) field.ErrorList {
		var f check.Errors
		f.Add(validateAttachment(a)...)
		f.Immutable(check.At("spec"), a.Spec, old.Spec)
		return f.List()
	}
	r.ValidateStatusUpdate = func(a, _ *storagev1.VolumeAttachment) field.ErrorList { return validateAttachment(a) }
	r.RequireResourceVersion = true
	return r.Strategy()
}

func validateAttachment(a *storagev1.VolumeAttachment) field.ErrorList {
	var f check.Errors
	p := check.At("spec")
	podspec.CSIDriverName(&f, p.Child("attacher"), a.Spec.Attacher)
	at, s := p.Child("source"), &a.Spec.Source
	switch {
	case s.InlineVolumeSpec == nil && s.PersistentVolumeName == nil:
		f.Required(at, "must specify exactly one of inlineVolumeSpec and persistentVolumeName")
	case s.InlineVolumeSpec != nil && s.PersistentVolumeName != nil:
		f.Forbidden(at, "must specify exactly one of inlineVolumeSpec and persistentVolumeName")
	case s.PersistentVolumeName != nil && *s.PersistentVolumeName == "":
		f.Required(at.Child("persistentVolumeName"), "must specify non empty persistentVolumeName")
	case s.InlineVolumeSpec != nil:
		inline(&f, at.Child("inlineVolumeSpec"), s.InlineVolumeSpec)
	}
	f.Subdomain(p.Child("nodeName"), a.Spec.NodeName)
	if name := s.PersistentVolumeName; name != nil {
		f.Subdomain(at.Child("persistentVolumeName"), *name)
	}
	for _, e := range []struct {
		name  string
		fault *storagev1.VolumeError
	}{{"attachError", a.Status.AttachError}, {"detachError", a.Status.DetachError}} {
		if e.fault != nil && ptr.Deref(e.fault.ErrorCode, 0) < 0 {
			f.Invalid(check.At("status", e.name, "errorCode"), *e.fault.ErrorCode, validation.InclusiveRangeError(0, math.MaxInt32))
		}
	}
	const maxSize = 256 * 1024
	size := 0
	for key, value := range a.Status.AttachmentMetadata {
		size += len(key) + len(value)
	}
	if size > maxSize {
		f.Add(field.TooLong(check.At("status", "attachmentMetadata").Field(), "", maxSize))
	}
	return f.List()
}

func inline(f *check.Errors, p *check.Path, s *corev1.PersistentVolumeSpec) {
	if s.ClaimRef != nil {
		f.Forbidden(p.Child("claimRef"), "may not be specified in the context of inline volumes")
	}
	if len(s.Capacity) != 0 {
		f.Forbidden(p.Child("capacity"), "may not be specified in the context of inline volumes")
	}
	if s.CSI == nil {
		f.Required(p.Child("csi"), "has to be specified in the context of inline volumes")
	}
	if len(s.AccessModes) == 0 {
		f.Required(p.Child("accessModes"), "")
	}
	podspec.AccessModes(f, p.Child("accessModes"), s.AccessModes)
}
