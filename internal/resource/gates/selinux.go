package gates

import (
	"fairlead.dev/internal/resource"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// seLinuxRules are the rules of the gate SELinuxMount: one for each kind that has pods.
func seLinuxRules() (all []rule) {
	for _, of := range []schema.GroupResource{
		corev1.Resource("pods"), corev1.Resource("podtemplates"), corev1.Resource("replicationcontrollers"),
		appsv1.Resource("deployments"), appsv1.Resource("replicasets"), appsv1.Resource("statefulsets"), appsv1.Resource("daemonsets"),
		batchv1.Resource("jobs"), batchv1.Resource("cronjobs"),
	} {
		all = append(all, rule{"SELinuxMount", of, func(r *resource.Resource) { check(r, recursively) }})
	}
	return all
}

// recursively refuses labels of volumes by a mount option, unless the old object has any policy.
func recursively(obj, old runtime.Object) field.ErrorList {
	if old != nil {
		if was, _ := podSpec(old); was != nil && was.SecurityContext != nil && was.SecurityContext.SELinuxChangePolicy != nil {
			return nil
		}
	}
	s, at := podSpec(obj)
	if s == nil || s.SecurityContext == nil {
		return nil
	}
	policy := s.SecurityContext.SELinuxChangePolicy
	if policy == nil || *policy == corev1.SELinuxChangePolicyRecursive {
		return nil
	}
	return field.ErrorList{field.NotSupported(at.Child("securityContext", "seLinuxChangePolicy"), *policy,
		[]corev1.PodSELinuxChangePolicy{corev1.SELinuxChangePolicyRecursive})}
}

// podSpec returns the spec of a pod, or of the pods of a template, and its path; nil if there is none.
func podSpec(obj runtime.Object) (*corev1.PodSpec, *field.Path) {
	in := field.NewPath("spec", "template", "spec")
	switch o := obj.(type) {
	case *corev1.Pod:
		return &o.Spec, field.NewPath("spec")
	case *corev1.PodTemplate:
		return &o.Template.Spec, field.NewPath("template", "spec")
	case *corev1.ReplicationController:
		if o.Spec.Template == nil {
			return nil, nil
		}
		return &o.Spec.Template.Spec, in
	case *appsv1.Deployment:
		return &o.Spec.Template.Spec, in
	case *appsv1.ReplicaSet:
		return &o.Spec.Template.Spec, in
	case *appsv1.StatefulSet:
		return &o.Spec.Template.Spec, in
	case *appsv1.DaemonSet:
		return &o.Spec.Template.Spec, in
	case *batchv1.Job:
		return &o.Spec.Template.Spec, in
	case *batchv1.CronJob:
		return &o.Spec.JobTemplate.Spec.Template.Spec, field.NewPath("spec", "jobTemplate", "spec", "template", "spec")
	}
	return nil, nil
}
