package core

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/podspec"
)

func pod() *resource.Resource {
	return resource.NamespaceScoped[corev1.Pod, corev1.PodList](corev1.SchemeGroupVersion, "pods").
		WithShortNames("po").WithCategories("all").
		WithConnect("attach", "PodAttachOptions", resource.StreamVerbs).
		WithConnect("exec", "PodExecOptions", resource.StreamVerbs).
		WithConnect("log", "Pod", []string{"get"}).
		WithConnect("portforward", "PodPortForwardOptions", resource.StreamVerbs).
		WithConnect("proxy", "PodProxyOptions", resource.ProxyVerbs).
		WithSubresourceOfKind(resource.Subresource{Name: "binding", Kind: "Binding", Verbs: resource.CreateVerb}).
		WithSubresourceOfKind(resource.Subresource{
			Name: "ephemeralcontainers", Kind: "Pod", Verbs: resource.StatusVerbs,
			PrepareForUpdate: func(obj, old runtime.Object) { prepareEphemeral(obj.(*corev1.Pod), old.(*corev1.Pod)) },
			ValidateUpdate: func(obj, old runtime.Object) field.ErrorList {
				return podspec.ValidateEphemeralUpdate(obj.(*corev1.Pod), old.(*corev1.Pod))
			},
		}).
		WithSubresourceOfKind(resource.Subresource{Name: "eviction", Kind: "Eviction", Group: "policy", Version: "v1", Verbs: resource.CreateVerb}).
		WithSubresourceOfKind(resource.Subresource{
			Name: "resize", Kind: "Pod", Verbs: resource.StatusVerbs,
			PrepareForUpdate: func(obj, old runtime.Object) { prepareResize(obj.(*corev1.Pod), old.(*corev1.Pod)) },
			ValidateUpdate: func(obj, old runtime.Object) field.ErrorList {
				return podspec.ValidateResize(obj.(*corev1.Pod), old.(*corev1.Pod))
			},
		}).
		WithStatus().
		Alias(map[string]string{"spec.host": "spec.nodeName"}).
		WithSelectableFields(
			resource.FieldAt("spec.nodeName", "").Index(),
			resource.Field{Label: "spec.host", Paths: [][]string{{"spec", "nodeName"}}},
			resource.FieldAt("spec.restartPolicy", ""),
			resource.FieldAt("spec.schedulerName", ""),
			resource.FieldAt("spec.serviceAccountName", ""),
			resource.FieldAt("spec.hostNetwork", "false"),
			resource.FieldAt("status.phase", ""),
			resource.FieldAt("status.podIP", ""),
			resource.Field{Label: "status.podIPs"},
			resource.FieldAt("status.nominatedNodeName", ""),
		).
		WithTable(podTable).
		WithStrategy(podStrategy())
}

func podStrategy() resource.Strategy {
	r := resource.SplitCounted(func(p *corev1.Pod) (*corev1.PodSpec, *corev1.PodStatus) { return &p.Spec, &p.Status })
	r.Default = podspec.DefaultPod
	cleared := r.PrepareForCreate
	r.PrepareForCreate = func(p *corev1.Pod) {
		cleared(p)
		podspec.CompletePodResources(&p.Spec)
		p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: podspec.QOSClass(p)}
		gateCondition(p)
		mergeLabelKeys(p)
	}
	update := r.PrepareForUpdate
	r.PrepareForUpdate = func(p, old *corev1.Pod) {
		keepPodResources(p, old)
		update(p, old)
	}
	r.PrepareForStatusUpdate = keepPodSpec
	r.Validate = podspec.ValidatePod
	r.ValidateUpdate = podspec.ValidatePodUpdate
	r.ValidateStatusUpdate = podspec.ValidatePodStatusUpdate
	r.Warnings = podspec.Warnings
	r.Graceful = podGrace
	return r.Strategy()
}

// podGrace returns the grace period from the pod or the delete options; a pod that is not bound to a node is
// deleted at once.
func podGrace(p *corev1.Pod, opts *metav1.DeleteOptions) (int64, bool) {
	if opts == nil {
		return 0, false
	}
	var seconds int64
	switch {
	case opts.GracePeriodSeconds != nil:
		seconds = *opts.GracePeriodSeconds
	case p.Spec.TerminationGracePeriodSeconds != nil:
		seconds = *p.Spec.TerminationGracePeriodSeconds
	}
	if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
		seconds = 0
	}
	if seconds < 0 {
		seconds = 1
	}
	return seconds, true
}

// keepPodSpec restricts a status write to the status and little else. Fields that an older kubelet does not send
// keep their values.
func keepPodSpec(p, old *corev1.Pod) {
	p.Spec = old.Spec
	p.DeletionTimestamp = nil
	p.OwnerReferences = old.OwnerReferences
	if p.Status.QOSClass == "" {
		p.Status.QOSClass = old.Status.QOSClass
	}
	if p.Status.ObservedGeneration == 0 {
		p.Status.ObservedGeneration = old.Status.ObservedGeneration
	}
	was := map[corev1.PodConditionType][]int64{}
	for _, c := range old.Status.Conditions {
		was[c.Type] = append(was[c.Type], c.ObservedGeneration)
	}
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		g := was[c.Type]
		if len(g) == 0 {
			continue
		}
		was[c.Type] = g[1:]
		if c.ObservedGeneration == 0 {
			c.ObservedGeneration = g[0]
		}
	}
}
