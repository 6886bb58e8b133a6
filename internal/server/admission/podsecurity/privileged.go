package podsecurity

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/server/admission"
)

// NoPrivileged makes privileged containers invalid, as kube-apiserver does without --allow-privileged.
type NoPrivileged struct{}

// Name implements admission.Plugin.
func (NoPrivileged) Name() string { return "NoPrivileged" }

// Complete implements admission.Completer.
func (NoPrivileged) Complete(_ context.Context, r *admission.Request) error {
	_, spec := template(r)
	if spec == nil {
		return nil
	}
	path := specPath(r.Object)
	check := func(list string, i int, c *corev1.SecurityContext) {
		if c != nil && c.Privileged != nil && *c.Privileged {
			r.Faults = append(r.Faults, field.Forbidden(path.Child(list).Index(i).Child("securityContext", "privileged"), "disallowed by cluster policy"))
		}
	}
	for i := range spec.InitContainers {
		check("initContainers", i, spec.InitContainers[i].SecurityContext)
	}
	for i := range spec.Containers {
		check("containers", i, spec.Containers[i].SecurityContext)
	}
	for i := range spec.EphemeralContainers {
		check("ephemeralContainers", i, spec.EphemeralContainers[i].SecurityContext)
	}
	return nil
}

// specPath returns the path of the pod spec in an object of a kind that has one.
func specPath(obj runtime.Object) *field.Path {
	switch obj.(type) {
	case *corev1.Pod:
		return field.NewPath("spec")
	case *corev1.PodTemplate:
		return field.NewPath("template", "spec")
	case *batchv1.CronJob:
		return field.NewPath("spec", "jobTemplate", "spec", "template", "spec")
	}
	return field.NewPath("spec", "template", "spec")
}
