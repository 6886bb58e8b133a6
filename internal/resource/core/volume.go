package core

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var volumeTable = resource.TableOf(volumeRow,
	resource.NameColumn,
	resource.Text("Capacity", "The volume's size."),
	resource.Text("Access Modes", "How the volume can be mounted."),
	resource.Text("Reclaim Policy", "What becomes of the volume when its claim is gone."),
	resource.Text("Status", "Whether the volume is available, bound or released."),
	resource.Text("Claim", "The claim that has the volume."),
	resource.Text("StorageClass", "The class of storage the volume belongs to."),
	resource.Text("VolumeAttributesClass", "The class of attributes the volume has."),
	resource.Text("Reason", "Why the volume is in its state."),
	resource.AgeColumn,
	resource.WideOnly(resource.Text("VolumeMode", "Whether the volume is a file system or a block device.")),
)

func volumeRow(v *corev1.PersistentVolume) []any {
	claim := ""
	if r := v.Spec.ClaimRef; r != nil {
		claim = r.Namespace + "/" + r.Name
	}
	size := v.Spec.Capacity[corev1.ResourceStorage]
	return []any{
		v.Name, size.String(), accessModes(v.Spec.AccessModes), string(v.Spec.PersistentVolumeReclaimPolicy),
		unlessTerminating(v, string(v.Status.Phase)), claim,
		storageClass(v, v.Spec.StorageClassName),
		ptr.Deref(v.Spec.VolumeAttributesClassName, resource.Unset),
		v.Status.Reason, resource.AgeOf(v), volumeMode(v.Spec.VolumeMode),
	}
}

func unlessTerminating(obj metav1.Object, phase string) string {
	if obj.GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	return phase
}

func volumeMode(m *corev1.PersistentVolumeMode) string {
	if m == nil {
		return resource.Unset
	}
	return string(*m)
}

// storageClass returns the class from the old annotation, or else from the field.
func storageClass(obj metav1.Object, name string) string {
	if class, ok := obj.GetAnnotations()[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return name
}

// accessModes formats the modes in their usual order: "RWO,ROX,RWX,RWOP".
func accessModes(modes []corev1.PersistentVolumeAccessMode) string {
	var words []string
	for _, m := range []struct {
		mode corev1.PersistentVolumeAccessMode
		word string
	}{{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"}} {
		if slices.Contains(modes, m.mode) {
			words = append(words, m.word)
		}
	}
	return strings.Join(words, ",")
}

func volumeStrategy() resource.Strategy {
	r := resource.SpecAndStatus(func(v *corev1.PersistentVolume) (*corev1.PersistentVolumeSpec, *corev1.PersistentVolumeStatus) {
		return &v.Spec, &v.Status
	})
	r.Default = defaultVolume
	r.PrepareForCreate = func(v *corev1.PersistentVolume) {
		v.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: ptr.To(metav1.Now())}
	}
	keep := r.PrepareForStatusUpdate
	r.PrepareForStatusUpdate = func(v, old *corev1.PersistentVolume) {
		keep(v, old)
		now, was := v.Status.LastPhaseTransitionTime, old.Status.LastPhaseTransitionTime
		if v.Status.Phase != old.Status.Phase && (now == nil || was != nil && now.Equal(was)) {
			v.Status.LastPhaseTransitionTime = ptr.To(metav1.Now())
		}
	}
	r.Warnings = volumeWarnings
	r.Validate = validateVolume
	r.ValidateUpdate = validateVolumeUpdate
	return r.Strategy()
}

func defaultVolume(v *corev1.PersistentVolume) {
	if v.Status.Phase == "" {
		v.Status.Phase = corev1.VolumePending
	}
	s := &v.Spec
	if s.PersistentVolumeReclaimPolicy == "" {
		s.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	}
	resource.SetDefault(&s.VolumeMode, corev1.PersistentVolumeFilesystem)
	podspec.RoundUp(s.Capacity)
	podspec.DefaultVolumeSource(&s.PersistentVolumeSource)
}

func validateVolume(v *corev1.PersistentVolume) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &v.Spec
	if len(s.AccessModes) == 0 {
		f.Required(p.Child("accessModes"), "")
	}
	podspec.AccessModes(&f, p.Child("accessModes"), s.AccessModes)
	if len(s.Capacity) == 0 {
		f.Required(p.Child("capacity"), "")
	}
	if _, ok := s.Capacity[corev1.ResourceStorage]; !ok || len(s.Capacity) > 1 {
		f.Add(field.NotSupported(p.Child("capacity").Field(), s.Capacity, []corev1.ResourceName{corev1.ResourceStorage}))
	}
	for _, name := range check.Names(s.Capacity) {
		q := s.Capacity[name]
		if q.Sign() <= 0 {
			f.Invalid(p.Child("capacity").Key(string(name)), q.String(), "must be greater than zero")
		}
		if q.Value() < 0 {
			f.Invalid(p.Child("capacity").Key(string(name)), q.Value(), "must be a valid resource quantity")
		}
	}
	if s.PersistentVolumeReclaimPolicy != "" {
		check.Known(&f, p.Child("persistentVolumeReclaimPolicy"), s.PersistentVolumeReclaimPolicy,
			corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain)
	}
	pinned := s.NodeAffinity != nil && s.NodeAffinity.Required != nil
	if s.NodeAffinity != nil {
		at := p.Child("nodeAffinity", "required")
		if pinned {
			podspec.NodeSelector(&f, at, s.NodeAffinity.Required)
		} else {
			f.Required(at, "must specify required node constraints")
		}
	}
	volumeSource(&f, p, v, pinned)
	if h := s.HostPath; h != nil && path.Clean(h.Path) == "/" && s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		f.Forbidden(p.Child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'")
	}
	if s.StorageClassName != "" {
		f.Subdomain(p.Child("storageClassName"), s.StorageClassName)
	}
	podspec.VolumeMode(&f, p.Child("volumeMode"), s.VolumeMode)
	if c := s.VolumeAttributesClassName; c != nil {
		if *c == "" {
			f.Required(p.Child("volumeAttributesClassName"), "an empty string is disallowed")
		} else {
			f.Subdomain(p.Child("volumeAttributesClassName"), *c)
		}
		if s.CSI == nil {
			f.Required(p.Child("csi"), "has to be specified when using volumeAttributesClassName")
		}
	}
	return f.List()
}
