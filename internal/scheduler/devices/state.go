package devices

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// A State holds all that decides about the devices of a pod.
type State struct {
	// Features are those of the allocator; DefaultFeatures if not set otherwise.
	Features structured.Features
	// Writer carries out allocations.
	Writer *Writer
	// Problem is called with a slice whose pool has a defect, because of which a pod did not fit, and its
	// description; once until that changes. It may be nil.
	Problem func(slice *resourcev1.ResourceSlice, reason, message string)

	// Group returns a pod group; false if it does not exist. Group is nil if groups cannot have claims.
	Group func(namespace, name string) (*schedulingv1beta1.PodGroup, bool)

	// Freed is called when devices have become free because a pod was not bound after all. It may be nil.
	Freed func()

	claims     map[types.NamespacedName]*claim
	extended   map[types.UID]types.NamespacedName // claims for extended resources by the pod that they are for
	unnamed    map[types.UID]*resourcev1.AllocationResult
	allocated  allocated
	classes    map[string]*resourcev1.DeviceClass
	byResource map[corev1.ResourceName]*resourcev1.DeviceClass
	slices     map[string]*resourcev1.ResourceSlice // by name, without the taints of rules
	rules      map[string]*resourcev1.DeviceTaintRule
	pools      map[poolID]*pool
	local      map[string]*reach // by node
	shared     reach
	clock      uint64 // counts the changes of pools
	trials     uint64 // counts the calls of BeginTrial
	trial      uint64 // of trials, the current one; 0: no group is being placed
	answers    answers
	compiled   func() *cel.Cache
}

// DefaultFeatures are the features that Kubernetes 1.37 has by default.
var DefaultFeatures = structured.Features{
	AdminAccess: true, ConsumableCapacity: true, DeviceBindingAndStatus: true, DeviceTaints: true,
	PartitionableDevices: true, PrioritizedList: true,
}

// maxCompiled is the number of compiled CEL expressions that are kept.
const maxCompiled = 100

// NewState returns a State without objects.
func NewState() *State {
	s := &State{
		Features:   DefaultFeatures,
		claims:     map[types.NamespacedName]*claim{},
		extended:   map[types.UID]types.NamespacedName{},
		unnamed:    map[types.UID]*resourcev1.AllocationResult{},
		allocated:  newAllocated(),
		classes:    map[string]*resourcev1.DeviceClass{},
		byResource: map[corev1.ResourceName]*resourcev1.DeviceClass{},
		slices:     map[string]*resourcev1.ResourceSlice{},
		rules:      map[string]*resourcev1.DeviceTaintRule{},
		pools:      map[poolID]*pool{},
		local:      map[string]*reach{},
		shared:     *newReach(),
		answers:    answers{},
	}
	// A compiler costs time and memory, which clusters without devices save.
	s.compiled = sync.OnceValue(func() *cel.Cache {
		return cel.NewCache(maxCompiled, cel.Features{
			EnableConsumableCapacity: s.Features.ConsumableCapacity, EnableListTypeAttributes: s.Features.ListTypeAttributes,
		})
	})
	return s
}
