package quota

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var podMeasure = Measure{
	names: []corev1.ResourceName{
		Count(pods), corev1.ResourcePods,
		corev1.ResourceCPU, corev1.ResourceRequestsCPU, corev1.ResourceLimitsCPU,
		corev1.ResourceMemory, corev1.ResourceRequestsMemory, corev1.ResourceLimitsMemory,
		corev1.ResourceEphemeralStorage, corev1.ResourceRequestsEphemeralStorage, corev1.ResourceLimitsEphemeralStorage,
	},
	more: func(name corev1.ResourceName) bool {
		n, request := strings.CutPrefix(string(name), corev1.DefaultResourceRequestsPrefix)
		return strings.HasPrefix(n, corev1.ResourceHugePagesPrefix) || request && (extended(name) || strings.HasPrefix(n, resourcev1.ResourceDeviceClassPrefix))
	},
	usage: func(obj runtime.Object) corev1.ResourceList { return podUsage(obj.(*corev1.Pod)) },
	scope: func(obj runtime.Object, s corev1.ScopedResourceSelectorRequirement) (bool, error) {
		return podInScope(obj.(*corev1.Pod), s)
	},
}

// extended reports whether a resource is not Kubernetes' own.
func extended(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") && !strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// podUsage counts a pod while it exists, and its requests until it has terminated.
func podUsage(p *corev1.Pod) corev1.ResourceList {
	l := corev1.ResourceList{Count(pods): one}
	if IsPodCounted(p) {
		sum := Sum{Actual: true, Overhead: true}
		l[corev1.ResourcePods] = one
		addQuotaUsage(l, sum.Requests(p), sum.Limits(p))
	}
	return l
}

// addQuotaUsage adds requests and limits under their quota names.
func addQuotaUsage(l, requests, limits corev1.ResourceList) {
	for name, q := range requests {
		prefixed := corev1.ResourceName(corev1.DefaultResourceRequestsPrefix) + name
		switch {
		case isNative(name), strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
			l[name], l[prefixed] = q, q
		case extended(name), strings.HasPrefix(string(name), resourcev1.ResourceDeviceClassPrefix):
			l[prefixed] = q
		}
	}
	for name, q := range limits {
		if isNative(name) {
			l["limits."+name] = q
		}
	}
}

func isNative(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
}

// IsPodCounted reports whether a pod's requests count: it is not in a terminal phase, and if it is terminating, its
// grace period is not over.
func IsPodCounted(p *corev1.Pod) bool {
	if p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
		return false
	}
	if p.DeletionTimestamp != nil && p.DeletionGracePeriodSeconds != nil {
		return !time.Now().After(p.DeletionTimestamp.Add(time.Duration(*p.DeletionGracePeriodSeconds) * time.Second))
	}
	return true
}

// PodTerminates reports whether the pod has an active deadline.
func PodTerminates(p *corev1.Pod) bool {
	return p.Spec.ActiveDeadlineSeconds != nil && *p.Spec.ActiveDeadlineSeconds >= 0
}

func podInScope(p *corev1.Pod, s corev1.ScopedResourceSelectorRequirement) (bool, error) {
	switch s.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return PodTerminates(p), nil
	case corev1.ResourceQuotaScopeNotTerminating:
		return !PodTerminates(p), nil
	case corev1.ResourceQuotaScopeBestEffort:
		return bestEffort(p), nil
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !bestEffort(p), nil
	case corev1.ResourceQuotaScopePriorityClass:
		return selects(s, p.Spec.PriorityClassName)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return selectsOtherNamespaces(p), nil
	}
	return false, nil
}

// bestEffort reports whether a pod has neither requests nor limits.
func bestEffort(p *corev1.Pod) bool {
	if p.Status.QOSClass != "" {
		return p.Status.QOSClass == corev1.PodQOSBestEffort
	}
	asks := func(r *corev1.ResourceRequirements) bool {
		for _, l := range []corev1.ResourceList{r.Requests, r.Limits} {
			if l.Cpu().Sign() > 0 || l.Memory().Sign() > 0 {
				return true
			}
		}
		return false
	}
	if p.Spec.Resources != nil {
		return !asks(p.Spec.Resources)
	}
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		if slices.ContainsFunc(list, func(c corev1.Container) bool { return asks(&c.Resources) }) {
			return false
		}
	}
	return true
}

// selectsOtherNamespaces reports whether an affinity term of the pod selects other namespaces.
func selectsOtherNamespaces(p *corev1.Pod) bool {
	if p.Spec.Affinity == nil {
		return false
	}
	var terms []corev1.PodAffinityTerm
	weighted := func(list []corev1.WeightedPodAffinityTerm) {
		for _, w := range list {
			terms = append(terms, w.PodAffinityTerm)
		}
	}
	if a := p.Spec.Affinity.PodAffinity; a != nil {
		terms = append(terms, a.RequiredDuringSchedulingIgnoredDuringExecution...)
		weighted(a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := p.Spec.Affinity.PodAntiAffinity; a != nil {
		terms = append(terms, a.RequiredDuringSchedulingIgnoredDuringExecution...)
		weighted(a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil })
}

// RequirePodCompute returns an error if a quota limits CPU or memory and a container does not specify them, unless the pod
// has pod-level resources.
func RequirePodCompute(p *corev1.Pod, bounded []corev1.ResourceName) error {
	if HasPodLevelResources(p) {
		return nil
	}
	lack := map[corev1.ResourceName][]string{}
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			has := corev1.ResourceList{}
			addQuotaUsage(has, list[i].Resources.Requests, list[i].Resources.Limits)
			for _, name := range bounded {
				if _, ok := has[name]; !ok && slices.Contains(mustAsk, name) && !slices.Contains(lack[name], list[i].Name) {
					lack[name] = append(lack[name], list[i].Name)
				}
			}
		}
	}
	var told []string
	for _, name := range mustAsk {
		if containers := lack[name]; containers != nil {
			slices.Sort(containers)
			told = append(told, fmt.Sprintf("%s for: %s", name, strings.Join(containers, ",")))
		}
	}
	if told == nil {
		return nil
	}
	return fmt.Errorf("must specify %s", strings.Join(told, "; "))
}

// mustAsk is sorted.
var mustAsk = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
	corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
}
