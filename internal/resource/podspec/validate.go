package podspec

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

// ValidatePod returns the errors of a new pod.
func ValidatePod(p *corev1.Pod) field.ErrorList {
	var f check.Errors
	validatePod(&f, p)
	spec := check.At("spec")
	if len(p.Spec.EphemeralContainers) > 0 {
		f.Forbidden(spec.Child("ephemeralContainers"), "cannot be set on create")
	}
	if p.Spec.NodeName != "" && len(p.Spec.SchedulingGates) > 0 {
		f.Forbidden(spec.Child("nodeName"), "cannot be set until all schedulingGates have been cleared")
	}
	return f.List()
}

// validatePod reports errors that apply to new and existing pods.
func validatePod(f *check.Errors, p *corev1.Pod) {
	path := check.At("spec")
	podAnnotations(f, check.At("metadata", "annotations"), p)
	v := validator{Errors: f, spec: &p.Spec, meta: &p.ObjectMeta, isPod: true}
	v.run(path)
	if p.Spec.ServiceAccountName == "" {
		for i := range p.Spec.Volumes {
			projected := p.Spec.Volumes[i].Projected
			if projected == nil {
				continue
			}
			for k := range projected.Sources {
				if projected.Sources[k].ServiceAccountToken != nil {
					f.Forbidden(path.Child("volumes").Index(i).Child("projected", "sources").Index(k).Child("serviceAccountToken"),
						"must not be specified when serviceAccountName is not set")
				}
			}
		}
	}
	requireTrimmedImages(f, path.Child("containers"), p.Spec.Containers)
	requireTrimmedImages(f, path.Child("initContainers"), p.Spec.InitContainers)
}

// ValidateTemplate returns the errors of a pod template at the path.
func ValidateTemplate(t *corev1.PodTemplateSpec, path *check.Path) field.ErrorList {
	var f check.Errors
	f.Labels(path.Child("labels"), t.Labels)
	annotations(&f, path.Child("annotations"), t.Annotations)
	v := validator{Errors: &f, spec: &t.Spec}
	v.run(path.Child("spec"))
	if len(t.Spec.EphemeralContainers) > 0 {
		f.Forbidden(path.Child("spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template")
	}
	return f.List()
}

// validator validates one spec. Objects that containers may refer to are collected first.
type validator struct {
	*check.Errors
	spec  *corev1.PodSpec
	meta  *metav1.ObjectMeta // the pod's, nil in a template
	isPod bool

	volumes map[string]*corev1.VolumeSource // the well-formed ones
	claims  map[string]bool
}
