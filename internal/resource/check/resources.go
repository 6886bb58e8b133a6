package check

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/internal/resource/plain"
)

// Resource names that need no prefix.
var (
	containerResources = []string{"cpu", "memory", "ephemeral-storage"}
	countedResources   = []string{
		"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
		"persistentvolumeclaims", "services.nodeports", "services.loadbalancers",
	}
	boundedResources = []string{
		"cpu", "memory", "ephemeral-storage",
		"requests.cpu", "requests.memory", "requests.storage", "requests.ephemeral-storage",
		"limits.cpu", "limits.memory", "limits.ephemeral-storage",
	}
)

// IsHugePages reports whether the resource is huge pages.
func IsHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// IsNative reports whether the resource is Kubernetes' own.
func IsNative(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// IsExtended reports whether the resource is an extended resource.
func IsExtended(name corev1.ResourceName) bool {
	return !IsNative(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// Overcommits reports whether limits of the resource may exceed its requests.
func Overcommits(name corev1.ResourceName) bool { return IsNative(name) && !IsHugePages(name) }

// ResourceName requires the name of a resource, and reports whether it is valid.
func (f *Errors) ResourceName(p *Path, name corev1.ResourceName) bool {
	n, s := f.Len(), string(name)
	if !plain.Qualified(s) {
		f.Each(p, name, validation.IsQualifiedName(s))
	}
	if f.Len() == n && !strings.Contains(s, "/") && !isStandard(s) {
		f.Invalid(p, name, "must be a standard resource type or fully qualified")
	}
	return f.Len() == n
}

func isStandard(s string) bool {
	return slices.Contains(boundedResources, s) || slices.Contains(countedResources, s) || s == "storage" ||
		strings.HasPrefix(s, corev1.ResourceHugePagesPrefix) || strings.HasPrefix(s, corev1.ResourceRequestsHugePagesPrefix)
}

// ContainerResourceName requires the name of a container resource.
func (f *Errors) ContainerResourceName(p *Path, name corev1.ResourceName) {
	f.ResourceName(p, name)
	switch s := string(name); {
	case !strings.Contains(s, "/"):
		if !slices.Contains(containerResources, s) && !IsHugePages(name) {
			f.Invalid(p, name, "must be a standard resource for containers")
		}
	case !IsNative(name) && !IsExtended(name):
		f.Invalid(p, name, "doesn't follow extended resource name standard")
	}
}

// QuotaResourceName requires the name of a resource that a quota can limit.
func (f *Errors) QuotaResourceName(p *Path, name corev1.ResourceName) {
	f.ResourceName(p, name)
	s := string(name)
	if strings.Contains(s, "/") || slices.Contains(boundedResources, s) || slices.Contains(countedResources, s) ||
		strings.HasPrefix(s, corev1.ResourceHugePagesPrefix) || strings.HasPrefix(s, corev1.ResourceRequestsHugePagesPrefix) {
		return
	}
	f.Invalid(p, name, "must be a standard resource for quota")
}

// Amount requires a valid quantity of the resource: not negative, and an integer for countable resources.
func (f *Errors) Amount(p *Path, name corev1.ResourceName, q resource.Quantity) {
	f.QuantityNotNegative(p, q)
	if (slices.Contains(countedResources, string(name)) || IsExtended(name)) && q.MilliValue()%1000 != 0 {
		f.Invalid(p, q, "must be an integer")
	}
}

// Names returns the names in a resource list, sorted.
func Names(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
