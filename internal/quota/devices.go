package quota

import (
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Lookups looks up the objects by which ResourceClaims are measured. Nil functions find no objects.
type Lookups struct {
	// DeviceClasses returns all device classes.
	DeviceClasses func() []*resourcev1.DeviceClass
	// Pod returns the pod of that name, or nil.
	Pod func(namespace, name string) *corev1.Pod
	// DeviceClaims returns the ResourceClaims of a namespace.
	DeviceClaims func(namespace string) []*resourcev1.ResourceClaim
}

// deviceMeasure measures ResourceClaims by the number of devices per class, and by the extended resource names of the
// class (KEP-5004).
type deviceMeasure struct {
	Lookups
	// names maps a class to its extended resource name, "" for a class with only the implicit one; classes is the
	// inverse.
	names   map[string]string
	classes map[string]bool
}

func (o Lookups) measure() Measure {
	d := sync.OnceValue(o.devices)
	return Measure{
		names: []corev1.ResourceName{Count(deviceClaims)},
		more:  func(name corev1.ResourceName) bool { return d().measures(string(name)) },
		usage: func(obj runtime.Object) corev1.ResourceList { return d().usage(obj.(*resourcev1.ResourceClaim)) },
	}
}

func (o Lookups) devices() *deviceMeasure {
	d := &deviceMeasure{Lookups: o, names: map[string]string{}, classes: map[string]bool{}}
	if o.DeviceClasses == nil {
		return d
	}
	for _, c := range o.DeviceClasses() {
		d.names[c.Name] = ""
		if n := c.Spec.ExtendedResourceName; n != nil {
			d.names[c.Name], d.classes[*n] = *n, true
		}
	}
	return d
}

// measures reports whether claims are measured by the name.
func (d *deviceMeasure) measures(name string) bool {
	if strings.HasSuffix(name, corev1.ResourceClaimsPerClass) {
		return true
	}
	if class, ok := strings.CutPrefix(name, corev1.ResourceImplicitExtendedClaimsPerClass); ok {
		_, ok := d.names[class]
		return ok
	}
	extended, ok := strings.CutPrefix(name, corev1.DefaultResourceRequestsPrefix)
	return ok && d.classes[extended]
}

func (d *deviceMeasure) usage(c *resourcev1.ResourceClaim) corev1.ResourceList {
	byClass := map[string]int64{}
	for i := range c.Spec.Devices.Requests {
		r := &c.Spec.Devices.Requests[i]
		if r.Exactly != nil {
			byClass[r.Exactly.DeviceClassName] += atMost(r.Exactly.AllocationMode, r.Exactly.Count)
		}
		most := map[string]int64{} // only one of the alternatives is allocated
		for k := range r.FirstAvailable {
			s := &r.FirstAvailable[k]
			most[s.DeviceClassName] = max(most[s.DeviceClassName], atMost(s.AllocationMode, s.Count))
		}
		for class, n := range most {
			byClass[class] += n
		}
	}
	used, extended := corev1.ResourceList{Count(deviceClaims): one}, corev1.ResourceList{}
	for class, n := range byClass {
		q := *resource.NewQuantity(n, resource.DecimalSI)
		used[corev1.ResourceName(class+corev1.ResourceClaimsPerClass)] = q
		extended[corev1.ResourceName(corev1.ResourceImplicitExtendedClaimsPerClass+class)] = q
		if name := d.names[class]; name != "" {
			extended[corev1.ResourceName(corev1.DefaultResourceRequestsPrefix+name)] = q
		}
	}
	// Resources charged for the claim's pod are not charged again.
	for name, q := range Less(extended, d.paidByPod(c)) {
		if q.Sign() > 0 {
			used[name] = q
		}
	}
	return used
}

// atMost returns the maximum number of devices of a request. The number for "All" is unknown before the allocation.
func atMost(mode resourcev1.DeviceAllocationMode, count int64) int64 {
	switch mode {
	case resourcev1.DeviceAllocationModeExactCount:
		return count
	case resourcev1.DeviceAllocationModeAll:
		return resourcev1.AllocationResultsMaxSize
	}
	return 0
}

// paidByPod returns the usage charged for the pod of a claim that a scheduler made for the pod's extended
// resources; nil for other claims.
func (d *deviceMeasure) paidByPod(c *resourcev1.ResourceClaim) corev1.ResourceList {
	owner := podOf(c)
	if owner == nil || d.Pod == nil {
		return nil
	}
	pod := d.Pod(c.Namespace, owner.Name)
	if pod == nil || pod.UID != owner.UID {
		return nil
	}
	if s := pod.Status.ExtendedResourceClaimStatus; s != nil {
		if s.ResourceClaimName != c.Name {
			return nil
		}
		return podUsage(pod)
	}
	// The pod's status does not name its claim yet: the first one counts.
	if d.DeviceClaims != nil {
		for _, other := range d.DeviceClaims(c.Namespace) {
			if o := podOf(other); o == nil || o.UID != owner.UID {
				continue
			}
			if other.CreationTimestamp.Before(&c.CreationTimestamp) ||
				other.CreationTimestamp.Equal(&c.CreationTimestamp) && other.Name < c.Name {
				return nil
			}
		}
	}
	return podUsage(pod)
}

// podOf returns the pod for whose extended resources the claim was made.
func podOf(c *resourcev1.ResourceClaim) *metav1.OwnerReference {
	owner := metav1.GetControllerOfNoCopy(c)
	if c.Annotations[resourcev1.ExtendedResourceClaimAnnotation] != "true" || owner == nil || owner.Kind != "Pod" || owner.APIVersion != "v1" {
		return nil
	}
	return owner
}
