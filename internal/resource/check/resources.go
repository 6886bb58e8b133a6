package check

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/internal/resource/plain"
)

// The names of resources that need no prefix.
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

// IsHugePages says whether the resource is memory in large pages.
func IsHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// IsNative says whether the resource is Kubernetes' own.
func IsNative(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// IsExtended says whether the resource is a device of someone else's naming.
func IsExtended(name corev1.ResourceName) bool {
	return !IsNative(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// Overcommits says whether more of the resource may be promised than there is.
func Overcommits(name corev1.ResourceName) bool { return IsNative(name) && !IsHugePages(name) }

// ResourceName wants the name of a resource, and reports whether it is one.
func (f *Faults) ResourceName(p *Path, name corev1.ResourceName) bool {
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

// ContainerResourceName wants the name of a resource that containers can have.
func (f *Faults) ContainerResourceName(p *Path, name corev1.ResourceName) {
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

// QuotaResourceName wants the name of something that a quota can bound.
func (f *Faults) QuotaResourceName(p *Path, name corev1.ResourceName) {
	f.ResourceName(p, name)
	s := string(name)
	if strings.Contains(s, "/") || slices.Contains(boundedResources, s) || slices.Contains(countedResources, s) ||
		strings.HasPrefix(s, corev1.ResourceHugePagesPrefix) || strings.HasPrefix(s, corev1.ResourceRequestsHugePagesPrefix) {
		return
	}
	f.Invalid(p, name, "must be a standard resource for quota")
}

// Amount wants an amount that the resource can have: none below zero, and
// nothing but whole ones of what is counted.
func (f *Faults) Amount(p *Path, name corev1.ResourceName, q resource.Quantity) {
	f.QuantityNotNegative(p, q)
	if (slices.Contains(countedResources, string(name)) || IsExtended(name)) && q.MilliValue()%1000 != 0 {
		f.Invalid(p, q, "must be an integer")
	}
}

// Names are the names in a list of resources, in order.
func Names(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
