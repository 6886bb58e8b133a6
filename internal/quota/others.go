package quota

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

var serviceMeasure = Measure{
	names: []corev1.ResourceName{Count(services), corev1.ResourceServices, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers},
	usage: func(obj runtime.Object) corev1.ResourceList { return serviceUsage(obj.(*corev1.Service)) },
}

func serviceUsage(s *corev1.Service) corev1.ResourceList {
	balancers, ports := 0, 0
	switch s.Spec.Type {
	case corev1.ServiceTypeNodePort:
		ports = len(s.Spec.Ports)
	case corev1.ServiceTypeLoadBalancer:
		balancers, ports = 1, len(s.Spec.Ports)
		if a := s.Spec.AllocateLoadBalancerNodePorts; a != nil && !*a {
			ports = 0
			for _, p := range s.Spec.Ports {
				if p.NodePort != 0 {
					ports++
				}
			}
		}
	}
	return corev1.ResourceList{
		Count(services):                      one,
		corev1.ResourceServices:              one,
		corev1.ResourceServicesNodePorts:     *resource.NewQuantity(int64(ports), resource.DecimalSI),
		corev1.ResourceServicesLoadBalancers: *resource.NewQuantity(int64(balancers), resource.DecimalSI),
	}
}

// ofClass separates a storage class from the limited resource in a quota name.
const ofClass = ".storageclass.storage.k8s.io/"

var claimMeasure = Measure{
	names: []corev1.ResourceName{Count(claims), corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage},
	more: func(name corev1.ResourceName) bool {
		return strings.HasSuffix(string(name), ofClass+string(corev1.ResourcePersistentVolumeClaims)) ||
			strings.HasSuffix(string(name), ofClass+string(corev1.ResourceRequestsStorage))
	},
	usage: func(obj runtime.Object) corev1.ResourceList { return claimUsage(obj.(*corev1.PersistentVolumeClaim)) },
	scope: func(obj runtime.Object, s corev1.ScopedResourceSelectorRequirement) (bool, error) {
		if s.ScopeName != corev1.ResourceQuotaScopeVolumeAttributesClass {
			return false, nil
		}
		return selects(s, AttributesClasses(obj.(*corev1.PersistentVolumeClaim))...)
	},
}

func claimUsage(c *corev1.PersistentVolumeClaim) corev1.ResourceList {
	class, beta := c.Annotations[corev1.BetaStorageClassAnnotation]
	if !beta && c.Spec.StorageClassName != nil {
		class = *c.Spec.StorageClassName
	}
	l := corev1.ResourceList{Count(claims): one, corev1.ResourcePersistentVolumeClaims: one}
	if size, ok := c.Spec.Resources.Requests[corev1.ResourceStorage]; ok {
		if allotted, ok := c.Status.AllocatedResources[corev1.ResourceStorage]; ok && allotted.Cmp(size) > 0 {
			size = allotted
		}
		size = size.DeepCopy()
		size.RoundUp(0) // quotas hold whole bytes
		l[corev1.ResourceRequestsStorage] = size
	}
	if class != "" {
		for _, name := range []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage} {
			if q, ok := l[name]; ok {
				l[corev1.ResourceName(class+ofClass)+name] = q
			}
		}
	}
	return l
}

// AttributesClasses returns the volume attributes classes that a claim refers to, sorted.
func AttributesClasses(c *corev1.PersistentVolumeClaim) []string {
	var names []string
	for _, n := range []*string{c.Spec.VolumeAttributesClassName, c.Status.CurrentVolumeAttributesClassName} {
		if n != nil && *n != "" {
			names = append(names, *n)
		}
	}
	if m := c.Status.ModifyVolumeStatus; m != nil && m.TargetVolumeAttributesClassName != "" {
		names = append(names, m.TargetVolumeAttributesClassName)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// selects reports whether a scope selector matches an object with any of the values; an empty value does not count.
func selects(s corev1.ScopedResourceSelectorRequirement, values ...string) (bool, error) {
	values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
	listed := func(v string) bool { return slices.Contains(s.Values, v) }
	switch s.Operator {
	case corev1.ScopeSelectorOpExists:
		return len(values) > 0, nil
	case corev1.ScopeSelectorOpDoesNotExist:
		return len(values) == 0, nil
	case corev1.ScopeSelectorOpIn:
		return slices.ContainsFunc(values, listed), nil
	case corev1.ScopeSelectorOpNotIn:
		return len(values) == 0 || slices.ContainsFunc(values, func(v string) bool { return !listed(v) }), nil
	}
	return false, fmt.Errorf("%q is not a valid scope selector operator", s.Operator)
}
