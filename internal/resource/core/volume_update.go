package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

func validateVolumeUpdate(v, old *corev1.PersistentVolume) field.ErrorList {
	var f check.Errors
	f.Add(validateVolume(v)...)
	now, was := v.Spec.PersistentVolumeSource.DeepCopy(), &old.Spec.PersistentVolumeSource
	if now.CSI != nil && was.CSI != nil && was.CSI.ControllerExpandSecretRef == nil {
		now.CSI.ControllerExpandSecretRef = nil // may be set later
	}
	if !apiequality.Semantic.DeepEqual(now, was) {
		f.Forbidden(check.At("spec", "persistentvolumesource"),
			fmt.Sprintf("spec.persistentvolumesource is immutable after creation\n%v", diff.Diff(*was, *now)))
	}
	f.Same(check.At("volumeMode"), v.Spec.VolumeMode, old.Spec.VolumeMode)
	if was := old.Spec.NodeAffinity; was != nil && !sameOrNewerLabels(v.Spec.NodeAffinity, was) {
		f.Invalid(check.At("nodeAffinity"), v.Spec.NodeAffinity, "field is immutable, except for updating from beta label to GA")
	}
	if old.Spec.VolumeAttributesClassName != nil && v.Spec.VolumeAttributesClassName == nil {
		f.Forbidden(check.At("spec", "volumeAttributesClassName"), "update from non-nil value to nil is forbidden")
	}
	return f.List()
}

// stableLabel maps beta labels of nodes to their stable names.
var stableLabel = map[string]string{
	corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
	corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
	"beta.kubernetes.io/arch":           corev1.LabelArchStable,
	"beta.kubernetes.io/os":             corev1.LabelOSStable,
	corev1.LabelInstanceType:            corev1.LabelInstanceTypeStable,
}

// sameOrNewerLabels reports whether the affinity is unchanged, except that expressions may use the stable name of a
// beta label.
func sameOrNewerLabels(now, was *corev1.VolumeNodeAffinity) bool {
	was = was.DeepCopy()
	if now != nil && now.Required != nil && was.Required != nil {
		for i := range min(len(now.Required.NodeSelectorTerms), len(was.Required.NodeSelectorTerms)) {
			to, from := &now.Required.NodeSelectorTerms[i], &was.Required.NodeSelectorTerms[i]
			renamed(to.MatchExpressions, from.MatchExpressions)
			renamed(to.MatchFields, from.MatchFields)
		}
	}
	return apiequality.Semantic.DeepEqual(now, was)
}

func renamed(now, was []corev1.NodeSelectorRequirement) {
	for i := range min(len(now), len(was)) {
		if stable, ok := stableLabel[was[i].Key]; ok && stable == now[i].Key {
			was[i].Key = stable
		}
	}
}
