package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/resource"
)

// DefaultTemplate sets the defaults of a pod template.
func DefaultTemplate(t *corev1.PodTemplateSpec) { Default(&t.Spec) }

// Default sets the defaults of the spec of a pod or template. [DefaultPod] adds those of pods only.
func Default(s *corev1.PodSpec) {
	if s.DNSPolicy == "" {
		s.DNSPolicy = corev1.DNSClusterFirst
	}
	if s.RestartPolicy == "" {
		s.RestartPolicy = corev1.RestartPolicyAlways
	}
	if s.SecurityContext == nil {
		s.SecurityContext = &corev1.PodSecurityContext{}
	}
	resource.SetDefault(&s.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	if s.SchedulerName == "" {
		s.SchedulerName = corev1.DefaultSchedulerName
	}
	defaultServiceAccount(s)
	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i])
	}
	for i := range s.InitContainers {
		defaultContainer(&s.InitContainers[i])
	}
	for i := range s.Containers {
		defaultContainer(&s.Containers[i])
	}
	for i := range s.EphemeralContainers {
		defaultContainer((*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon))
	}
	RoundUp(s.Overhead)
	roundRequirements(s.Resources)
}

// defaultServiceAccount sets the field and its deprecated alias to the same value. The new name wins.
func defaultServiceAccount(s *corev1.PodSpec) {
	if s.ServiceAccountName == "" {
		s.ServiceAccountName = s.DeprecatedServiceAccount
	}
	s.DeprecatedServiceAccount = s.ServiceAccountName
}

// RoundUp rounds quantities up to milli-units.
func RoundUp(list corev1.ResourceList) {
	const milli = -3
	for name, amount := range list {
		amount.RoundUp(milli)
		list[name] = amount
	}
}
