package podspec

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/resource/check"
)

func claimTemplate(f *check.Errors, p *check.Path, t *corev1.PersistentVolumeClaimTemplate) {
	TemplateMeta(f, p.Child("metadata"), &t.ObjectMeta)
	ClaimSpec(f, p.Child("spec"), &t.Spec)
}

// TemplateMeta requires the metadata of a template to have only labels and annotations.
func TemplateMeta(f *check.Errors, p *check.Path, m *metav1.ObjectMeta) {
	annotations(f, p.Child("annotations"), m.Annotations)
	f.Labels(p.Child("labels"), m.Labels)
	rest := *m
	rest.Labels, rest.Annotations = nil, nil
	value := reflect.ValueOf(rest)
	for i := range value.NumField() {
		if !value.Field(i).IsZero() {
			f.Forbidden(p.Child(lowerFirst(value.Type().Field(i).Name)), "cannot be set")
		}
	}
}

// AccessModes requires supported access modes that can be combined.
func AccessModes(f *check.Errors, p *check.Path, modes []corev1.PersistentVolumeAccessMode) {
	alone, others := false, false
	known := []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod}
	for _, m := range modes {
		check.Known(f, p, m, known...)
		if m == corev1.ReadWriteOncePod {
			alone = true
		} else if slices.Contains(known, m) {
			others = true
		}
	}
	if alone && others {
		f.Forbidden(p, "may not use ReadWriteOncePod with other access modes")
	}
}

// VolumeMode requires a supported volume mode or nil.
func VolumeMode(f *check.Errors, p *check.Path, m *corev1.PersistentVolumeMode) {
	if m != nil {
		check.Known(f, p, *m, corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)
	}
}

// ClaimSpec returns the errors in the spec of a volume claim.
func ClaimSpec(f *check.Errors, p *check.Path, s *corev1.PersistentVolumeClaimSpec) {
	if len(s.AccessModes) == 0 {
		f.Required(p.Child("accessModes"), "at least 1 access mode is required")
	}
	f.Selector(p.Child("selector"), s.Selector)
	AccessModes(f, p.Child("accessModes"), s.AccessModes)
	size := p.Child("resources").Key(string(corev1.ResourceStorage))
	if q, ok := s.Resources.Requests[corev1.ResourceStorage]; !ok {
		f.Required(size, "")
	} else if q.Sign() <= 0 {
		f.Invalid(size, q.String(), "must be greater than zero")
	}
	if s.StorageClassName != nil && *s.StorageClassName != "" {
		f.Subdomain(p.Child("storageClassName"), *s.StorageClassName)
	}
	VolumeMode(f, p.Child("volumeMode"), s.VolumeMode)
	dataSources(f, p, s)
	if c := s.VolumeAttributesClassName; c != nil && *c != "" {
		f.Subdomain(p.Child("volumeAttributesClassName"), *c)
	}
}

func dataSources(f *check.Errors, p *check.Path, s *corev1.PersistentVolumeClaimSpec) {
	source := func(p *check.Path, group *string, kind, name string) {
		if name == "" {
			f.Required(p.Child("name"), "")
		}
		if kind == "" {
			f.Required(p.Child("kind"), "")
		}
		if group == nil || *group == "" {
			if kind != "PersistentVolumeClaim" {
				f.Invalid(p, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
			}
		} else {
			f.Subdomain(p.Child("apiGroup"), *group)
		}
	}
	d, r := s.DataSource, s.DataSourceRef
	if d != nil {
		source(p.Child("dataSource"), d.APIGroup, d.Kind, d.Name)
	}
	if r == nil {
		return
	}
	at := p.Child("dataSourceRef")
	source(at, r.APIGroup, r.Kind, r.Name)
	crosses := r.Namespace != nil && *r.Namespace != ""
	if crosses {
		f.Each(at.Child("namespace"), *r.Namespace, apivalidation.ValidateNamespaceName(*r.Namespace, false))
	}
	switch {
	case d == nil:
	case crosses:
		f.Invalid(p, p.Child("dataSource"), "may not be specified when dataSourceRef.namespace is specified")
	case !reflect.DeepEqual(d.APIGroup, r.APIGroup) || d.Kind != r.Kind || d.Name != r.Name:
		f.Invalid(p, p.Child("dataSource"), "must match dataSourceRef")
	}
}

func annotations(f *check.Errors, p *check.Path, a map[string]string) {
	f.Add(apivalidation.ValidateAnnotations(a, p.Field())...)
}

func podAnnotations(f *check.Errors, p *check.Path, pod *corev1.Pod) {
	if value, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror && pod.Spec.NodeName == "" {
		f.Invalid(p.Key(corev1.MirrorPodAnnotationKey), value, "must set spec.nodeName if mirror pod annotation is set")
	}
	if cost, ok := pod.Annotations[corev1.PodDeletionCost]; ok && !isInt32(cost) {
		f.Invalid(p.Key(corev1.PodDeletionCost), cost, "must be a 32bit integer")
	}
	for _, key := range slices.Sorted(maps.Keys(pod.Annotations)) {
		if key == corev1.SeccompPodAnnotationKey || strings.HasPrefix(key, corev1.SeccompContainerAnnotationKeyPrefix) {
			seccompName(f, p.Child(key), pod.Annotations[key])
		}
	}
}

func isMirror(m metav1.Object) bool {
	_, ok := m.GetAnnotations()[corev1.MirrorPodAnnotationKey]
	return ok
}

// seccompName requires the name of a profile in its old form.
func seccompName(f *check.Errors, p *check.Path, name string) {
	const docker = corev1.DeprecatedSeccompProfileDockerDefault
	file, local := strings.CutPrefix(name, corev1.SeccompLocalhostProfileNamePrefix)
	switch {
	case local:
		f.Descending(p, file)
	case name != corev1.SeccompProfileRuntimeDefault && name != docker && name != corev1.SeccompProfileNameUnconfined:
		f.Invalid(p, name, "must be a valid seccomp profile")
	}
}
