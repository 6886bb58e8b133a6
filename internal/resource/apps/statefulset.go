package apps

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var statefulSetTable = resource.TableOf(func(s *appsv1.StatefulSet) []any {
	names, images := resource.Containers(s.Spec.Template.Spec.Containers)
	return []any{
		s.Name, fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, ptr.Deref(s.Spec.Replicas, 0)), resource.AgeOf(s), names, images,
	}
},
	resource.NameColumn,
	resource.Text("Ready", "Pods that are ready, of those there should be."),
	resource.AgeColumn, resource.ContainersColumn, resource.ImagesColumn,
)

func statefulSetStrategy() resource.Strategy {
	r := resource.SplitCounted(func(s *appsv1.StatefulSet) (*appsv1.StatefulSetSpec, *appsv1.StatefulSetStatus) {
		return &s.Spec, &s.Status
	})
	r.Default = defaultStatefulSet
	r.Validate = func(s *appsv1.StatefulSet) field.ErrorList {
		var f check.Errors
		p := check.At("spec")
		statefulSet(&f, p, s)
		for i := range s.Spec.VolumeClaimTemplates {
			podspec.ClaimSpec(&f, p.Child("volumeClaimTemplates").Index(i).Child("spec"), &s.Spec.VolumeClaimTemplates[i].Spec)
		}
		if s.Spec.ServiceName != "" {
			f.Label(p.Child("serviceName"), s.Spec.ServiceName)
		}
		return f.List()
	}
	r.ValidateUpdate = validateStatefulSetUpdate
	r.ValidateStatusUpdate = validateStatefulSetStatus
	r.Warnings = func(s *appsv1.StatefulSet) []string {
		return podspec.TemplateWarnings(&s.Spec.Template, check.At("spec", "template"))
	}
	r.Scale = scale(
		func(s *appsv1.StatefulSet) **int32 { return &s.Spec.Replicas },
		func(s *appsv1.StatefulSet) int32 { return s.Status.Replicas },
		func(s *appsv1.StatefulSet) *metav1.LabelSelector { return s.Spec.Selector },
	)
	return r.Strategy()
}

func defaultStatefulSet(set *appsv1.StatefulSet) {
	s := &set.Spec
	podspec.DefaultTemplate(&s.Template)
	if s.PodManagementPolicy == "" {
		s.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	}
	if s.UpdateStrategy.Type == "" {
		s.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		if s.UpdateStrategy.RollingUpdate == nil {
			s.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
		}
	}
	if r := s.UpdateStrategy.RollingUpdate; r != nil && s.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		resource.SetDefault(&r.Partition, 0)
		resource.SetDefault(&r.MaxUnavailable, intstr.FromInt32(1))
	}
	if s.PersistentVolumeClaimRetentionPolicy == nil {
		s.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
	}
	if p := s.PersistentVolumeClaimRetentionPolicy; p.WhenDeleted == "" {
		p.WhenDeleted = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	}
	if p := s.PersistentVolumeClaimRetentionPolicy; p.WhenScaled == "" {
		p.WhenScaled = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	}
	resource.SetDefault(&s.Replicas, 1)
	resource.SetDefault(&s.RevisionHistoryLimit, 10)
	for i := range s.VolumeClaimTemplates {
		c := &s.VolumeClaimTemplates[i]
		c.APIVersion, c.Kind = "v1", "PersistentVolumeClaim"
		podspec.DefaultClaim(&c.Spec)
		podspec.RoundUp(c.Status.Capacity)
		podspec.RoundUp(c.Status.AllocatedResources)
		if c.Status.Phase == "" {
			c.Status.Phase = corev1.ClaimPending
		}
	}
}

func statefulSet(f *check.Errors, p *check.Path, set *appsv1.StatefulSet) {
	s := &set.Spec
	switch s.PodManagementPolicy {
	case "":
		f.Required(p.Child("podManagementPolicy"), "")
	case appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement:
	default:
		f.Invalid(p.Child("podManagementPolicy"), s.PodManagementPolicy, "must be 'OrderedReady' or 'Parallel'")
	}
	update := p.Child("updateStrategy")
	switch u := &s.UpdateStrategy; u.Type {
	case "":
		f.Required(update, "")
	case appsv1.OnDeleteStatefulSetStrategyType:
		if u.RollingUpdate != nil {
			f.Invalid(update.Child("rollingUpdate"), u.RollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")
		}
	case appsv1.RollingUpdateStatefulSetStrategyType:
		if r := u.RollingUpdate; r != nil {
			notNegative(f, update.Child("rollingUpdate", "partition"), r.Partition)
			if r.MaxUnavailable != nil {
				at := update.Child("rollingUpdate", "maxUnavailable")
				f.CountOrPercent(at, *r.MaxUnavailable)
				if countOf(r.MaxUnavailable) == 0 {
					f.Invalid(at, *r.MaxUnavailable, "cannot be 0")
				}
				f.NotOver100(at, *r.MaxUnavailable)
			}
		}
	default:
		f.Invalid(update, *u, "must be 'RollingUpdate' or 'OnDelete'")
	}
	if r := s.PersistentVolumeClaimRetentionPolicy; r != nil {
		at := p.Child("persistentVolumeClaimRetentionPolicy")
		retain, remove := appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType
		check.Known(f, at.Child("whenDeleted"), r.WhenDeleted, retain, remove)
		check.Known(f, at.Child("whenScaled"), r.WhenScaled, retain, remove)
	}
	notNegative(f, p.Child("replicas"), s.Replicas)
	f.NotNegative(p.Child("minReadySeconds"), int64(s.MinReadySeconds))
	if s.Ordinals != nil {
		f.NotNegative(p.Child("ordinals.start"), int64(s.Ordinals.Start))
	}
	parsed, ok := selector(f, p.Child("selector"), s.Selector, "statefulset")
	if !ok {
		return
	}
	p = p.Child("template")
	t := withClaims(s)
	requireMatch(f, p, parsed, t)
	f.Add(podspec.ValidateTemplate(t, p)...)
	requireRestartAlways(f, p, &s.Template, "StatefulSet")
}

// withClaims returns the template with a volume for each claim template, and without the host names that the set
// assigns.
func withClaims(s *appsv1.StatefulSetSpec) *corev1.PodTemplateSpec {
	t := s.Template.DeepCopy()
	t.Spec.Subdomain, t.Spec.Hostname = "", ""
	made := map[string]bool{}
	var volumes []corev1.Volume
	for i := range s.VolumeClaimTemplates {
		name := s.VolumeClaimTemplates[i].Name
		if made[name] {
			continue
		}
		made[name] = true
		volumes = append(volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}})
	}
	for _, v := range t.Spec.Volumes {
		if !made[v.Name] {
			volumes = append(volumes, v)
		}
	}
	t.Spec.Volumes = volumes
	return t
}

func validateStatefulSetUpdate(s, old *appsv1.StatefulSet) field.ErrorList {
	var f check.Errors
	statefulSet(&f, check.At("spec"), s)
	p, now, was := check.At("spec"), &s.Spec, &old.Spec
	f.Same(p.Child("selector"), now.Selector, was.Selector)
	f.Same(p.Child("volumeClaimTemplates"), now.VolumeClaimTemplates, was.VolumeClaimTemplates)
	f.Same(p.Child("serviceName"), now.ServiceName, was.ServiceName)
	f.Same(p.Child("podManagementPolicy"), now.PodManagementPolicy, was.PodManagementPolicy)
	return f.List()
}

func validateStatefulSetStatus(set, old *appsv1.StatefulSet) field.ErrorList {
	var f check.Errors
	p, s := check.At("status"), &set.Status
	ready, current := count{"readyReplicas", s.ReadyReplicas}, count{"currentReplicas", s.CurrentReplicas}
	updated, available := count{"updatedReplicas", s.UpdatedReplicas}, count{"availableReplicas", s.AvailableReplicas}
	countsNotNegative(&f, p, count{"replicas", s.Replicas}, ready, current, updated, available)
	f.NotNegative(p.Child("observedGeneration"), s.ObservedGeneration)
	notNegative(&f, p.Child("collisionCount"), s.CollisionCount)
	requireAtMost(&f, p, s.Replicas, "cannot be greater than status.replicas", ready, current, updated, available)
	requireAtMost(&f, p, s.ReadyReplicas, "cannot be greater than status.readyReplicas", available)
	notDecremented(&f, p, s.CollisionCount, old.Status.CollisionCount)
	return f.List()
}
