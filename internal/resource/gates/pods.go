package gates

import (
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/podspec"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// restartOne refuses restarts of all containers, unless the old pod has one.
func restartOne(pod, old *corev1.Pod) (errs field.ErrorList) {
	if old != nil && len(restartsOfAll(&old.Spec)) > 0 {
		return nil
	}
	for _, p := range restartsOfAll(&pod.Spec) {
		errs = append(errs, field.NotSupported(p, corev1.ContainerRestartRuleActionRestartAllContainers, []corev1.ContainerRestartRuleAction{corev1.ContainerRestartRuleActionRestart}))
	}
	return errs
}

func restartsOfAll(s *corev1.PodSpec) (at []*field.Path) {
	find := func(containers []corev1.Container, p *field.Path) {
		for i, c := range containers {
			for j, r := range c.RestartPolicyRules {
				if r.Action == corev1.ContainerRestartRuleActionRestartAllContainers {
					at = append(at, p.Index(i).Child("restartPolicyRules").Index(j).Child("action"))
				}
			}
		}
	}
	find(s.InitContainers, field.NewPath("spec", "initContainers"))
	find(s.Containers, field.NewPath("spec", "containers"))
	return at
}

// checkResize adds a function to the validation of a resize.
func checkResize(r *resource.Resource, of func(pod, old *corev1.Pod) field.ErrorList) {
	resize := r.Subresource("resize")
	update := resize.ValidateUpdate
	resize.ValidateUpdate = func(obj, old runtime.Object) field.ErrorList {
		return append(update(obj, old), of(obj.(*corev1.Pod), old.(*corev1.Pod))...)
	}
}

// sameInit refuses a resize of init containers that are no sidecars.
func sameInit(pod, old *corev1.Pod) (errs field.ErrorList) {
	for i := range min(len(pod.Spec.InitContainers), len(old.Spec.InitContainers)) {
		now, was := &pod.Spec.InitContainers[i], &old.Spec.InitContainers[i]
		if now.RestartPolicy == nil && !apiequality.Semantic.DeepEqual(now.Resources, was.Resources) {
			errs = append(errs, field.Forbidden(field.NewPath("spec"), "resources for non-sidecar init containers are immutable"))
		}
	}
	return errs
}

// noPodResources refuses a resize of a pod that has resources as a whole.
func noPodResources(pod, old *corev1.Pod) field.ErrorList {
	none := func(p *corev1.Pod) bool {
		return p.Spec.Resources == nil || len(p.Spec.Resources.Requests)+len(p.Spec.Resources.Limits) == 0
	}
	if none(pod) && none(old) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath(""), "resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled")}
}

// keepSpreadSelectors leaves the matchLabelKeys of a new pod's spread constraints out of their selectors.
func keepSpreadSelectors(r *resource.Resource) {
	prepare := r.Strategy.PrepareForCreate
	r.Strategy.PrepareForCreate = func(obj runtime.Object) {
		constraints := obj.(*corev1.Pod).Spec.TopologySpreadConstraints
		selectors := make([]*metav1.LabelSelector, len(constraints))
		for i, c := range constraints {
			selectors[i] = c.LabelSelector.DeepCopy()
		}
		prepare(obj)
		for i, s := range selectors {
			constraints[i].LabelSelector = s
		}
	}
}

// completeAsSent completes a pod's resources when it is sent, before admission, and not when it is created, changed or
// resized.
func completeAsSent(r *resource.Resource) {
	s := &r.Strategy
	set, create := s.Default, s.PrepareForCreate
	s.Default = func(obj runtime.Object) {
		set(obj)
		podspec.DefaultPodResources(&obj.(*corev1.Pod).Spec)
	}
	s.PrepareForCreate = func(obj runtime.Object) {
		p := obj.(*corev1.Pod)
		sent := p.Spec.Resources.DeepCopy()
		create(obj)
		p.Spec.Resources = sent
		p.Status.QOSClass = podspec.QOSClass(p)
	}
	s.PrepareForUpdate = asSent(s.PrepareForUpdate)
	resize := r.Subresource("resize")
	resize.PrepareForUpdate = asSent(resize.PrepareForUpdate)
}

// asSent returns a function that prepares a pod but for its resources.
func asSent(prepare func(obj, old runtime.Object)) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) {
		p := obj.(*corev1.Pod)
		sent := p.Spec.Resources.DeepCopy()
		prepare(obj, old)
		p.Spec.Resources = sent
	}
}

// sameResources refuses a change of the resources of a Job's containers.
func sameResources(j, old *batchv1.Job) field.ErrorList {
	if old == nil {
		return nil
	}
	changed := func(now, was []corev1.Container) bool {
		for i := range min(len(now), len(was)) {
			if !apiequality.Semantic.DeepEqual(now[i].Resources, was[i].Resources) {
				return true
			}
		}
		return false
	}
	now, was := &j.Spec.Template, &old.Spec.Template
	if !changed(now.Spec.Containers, was.Spec.Containers) && !changed(now.Spec.InitContainers, was.Spec.InitContainers) {
		return nil
	}
	return sameTemplate(j, old)
}

// sameSinceStart refuses a change of the template of a Job that has started, although it is suspended again.
func sameSinceStart(j, old *batchv1.Job) field.ErrorList {
	if old == nil || old.Status.StartTime == nil {
		return nil
	}
	return sameTemplate(j, old)
}

func sameTemplate(j, old *batchv1.Job) field.ErrorList {
	return apivalidation.ValidateImmutableField(j.Spec.Template, old.Spec.Template, field.NewPath("spec", "template"))
}

// keptScheduling refuses a change of a Job's spec.scheduling, which the gate leaves alone if it was set before.
func keptScheduling(j, old *batchv1.Job) field.ErrorList {
	if old == nil {
		return nil
	}
	return kept(field.NewPath("spec", "scheduling"), j.Spec.Scheduling, old.Spec.Scheduling)
}

// keptCronScheduling is keptScheduling for the Jobs of a CronJob.
func keptCronScheduling(c, old *batchv1.CronJob) field.ErrorList {
	if old == nil {
		return nil
	}
	return kept(field.NewPath("spec", "jobTemplate", "spec", "scheduling"), c.Spec.JobTemplate.Spec.Scheduling, old.Spec.JobTemplate.Spec.Scheduling)
}

func kept(at *field.Path, now, old *batchv1.JobSchedulingConfiguration) field.ErrorList {
	if now == nil || apiequality.Semantic.DeepEqual(now, old) {
		return nil
	}
	return field.ErrorList{field.Forbidden(at, "")}
}
