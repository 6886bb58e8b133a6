package scheduler

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/dynamic-resource-allocation/structured"

	"fairlead.dev/controller"
	"fairlead.dev/informer"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/devices"
	"fairlead.dev/internal/scheduler/framework"
)

// deviceObjects are the informers of the objects of dynamic resource allocation; nil for kinds that the server does
// not serve.
type deviceObjects struct {
	claims  *informer.Informer[*resourcev1.ResourceClaim]
	slices  *informer.Informer[*resourcev1.ResourceSlice]
	classes *informer.Informer[*resourcev1.DeviceClass]
	rules   *informer.Informer[*resourcev1.DeviceTaintRule]
}

func newDeviceObjects(set *informer.Set, o Options) (d deviceObjects) {
	if !o.enabled("DynamicResourceAllocation", true) {
		return d
	}
	d.claims = informer.For[*resourcev1.ResourceClaim](set)
	d.slices = informer.For[*resourcev1.ResourceSlice](set)
	d.classes = informer.For[*resourcev1.DeviceClass](set)
	if o.enabled("DRADeviceTaintRules", true) {
		d.rules = informer.For[*resourcev1.DeviceTaintRule](set)
	}
	return d
}

// enabled reports whether a feature gate is on, given its default.
func (o *Options) enabled(gate string, byDefault bool) bool {
	if on, known := o.FeatureGates[gate]; known {
		return on
	}
	return byDefault
}

// modelDevices connects the model of devices with the server.
func (s *loop) modelDevices(env controller.Env) {
	model, o := cache.DevicesOf(s.cluster), &s.options
	model.Features = structured.Features{
		AdminAccess:             o.enabled("DRAAdminAccess", true),
		CompatibilityGroups:     o.enabled("DRADeviceCompatibilityGroups", false),
		ConsumableCapacity:      o.enabled("DRAConsumableCapacity", true),
		DerivedAttributes:       o.enabled("DRADerivedAttributes", false),
		DeviceBindingAndStatus:  o.enabled("DRADeviceBindingConditions", true) && o.enabled("DRAResourceClaimDeviceStatus", true),
		DeviceTaints:            o.enabled("DRADeviceTaints", true),
		FractionalCapacityRange: o.enabled("DRAFractionalCapacityRange", false),
		ListTypeAttributes:      o.enabled("DRAListTypeAttributes", false),
		OptionalNodeOperations:  o.enabled("DRAOptionalNodeOperations", false),
		PartitionableDevices:    o.enabled("DRAPartitionableDevices", true),
		PrioritizedList:         o.enabled("DRAPrioritizedList", true),
	}
	if s.objects.groups != nil && o.enabled("DRAWorkloadResourceClaims", false) {
		model.Group = s.groups.object
	}
	model.Freed = func() {
		if s.groups.trying {
			return // the devices were taken for a group that did not fit
		}
		s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.DevicesFreed}, time.Now())
	}
	model.Problem = func(slice *resourcev1.ResourceSlice, reason, message string) {
		env.Recorder.Act(slice, nil, corev1.EventTypeWarning, reason, "Allocating", "%s", message)
	}
	model.Writer = &devices.Writer{
		Client: env.Client,
		Wrote:  func(c *resourcev1.ResourceClaim) { s.send(func() { s.setClaim(c) }) },
		Event: func(pod *corev1.Pod, reason, note string) {
			s.profiles[pod.Spec.SchedulerName].events.Act(pod, nil, corev1.EventTypeNormal, reason, "Scheduling", "%s", note)
		},
	}
	if s.objects.devices.claims != nil {
		model.Writer.Seen = s.objects.devices.claims.Store()
	}
}

// listenToDevices sends the events of slices, rules, classes and claims to the loop.
func (s *loop) listenToDevices() (stops []func()) {
	o, model := &s.objects.devices, cache.DevicesOf(s.cluster)
	if o.claims == nil {
		return nil
	}
	slicesChanged := func() {
		s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.ResourceSliceChanged}, time.Now())
	}
	stops = append(stops,
		listening(s.objects, o.slices, informer.Handler[*resourcev1.ResourceSlice]{
			Add: func(x *resourcev1.ResourceSlice, _ bool) { s.send(func() { model.SetSlice(x); slicesChanged() }) },
			Update: func(old, x *resourcev1.ResourceSlice) {
				if !apiequality.Semantic.DeepEqual(old.Spec, x.Spec) {
					s.send(func() { model.SetSlice(x); slicesChanged() })
				}
			},
			Delete: func(x *resourcev1.ResourceSlice) { s.send(func() { model.RemoveSlice(x.Name) }) },
		}),
		listening(s.objects, o.classes, informer.Handler[*resourcev1.DeviceClass]{
			Add:    func(x *resourcev1.DeviceClass, _ bool) { s.send(func() { s.setClass(nil, x) }) },
			Update: func(old, x *resourcev1.DeviceClass) { s.send(func() { s.setClass(old, x) }) },
			Delete: func(x *resourcev1.DeviceClass) { s.send(func() { model.RemoveClass(x.Name) }) },
		}),
		listening(s.objects, o.claims, informer.Handler[*resourcev1.ResourceClaim]{
			Add:    func(x *resourcev1.ResourceClaim, _ bool) { s.claimSeen(x) },
			Update: func(_, x *resourcev1.ResourceClaim) { s.claimSeen(x) },
			Delete: func(x *resourcev1.ResourceClaim) {
				model.Writer.Bell.Ring()
				s.send(func() { s.removeClaim(x) })
			},
		}),
	)
	if o.rules == nil {
		return stops
	}
	return append(stops, listening(s.objects, o.rules, informer.Handler[*resourcev1.DeviceTaintRule]{
		Add: func(x *resourcev1.DeviceTaintRule, _ bool) { s.send(func() { model.SetRule(x); slicesChanged() }) },
		Update: func(old, x *resourcev1.DeviceTaintRule) {
			if !apiequality.Semantic.DeepEqual(old.Spec, x.Spec) {
				s.send(func() { model.SetRule(x); slicesChanged() })
			}
		},
		Delete: func(x *resourcev1.DeviceTaintRule) { s.send(func() { model.RemoveRule(x.Name); slicesChanged() }) },
	}))
}

func (s *loop) setClass(old, class *resourcev1.DeviceClass) {
	cache.DevicesOf(s.cluster).SetClass(class)
	s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.DeviceClassChanged, Class: class, OldClass: old}, time.Now())
}

// claimSeen sends a claim that the watch has shown.
func (s *loop) claimSeen(c *resourcev1.ResourceClaim) {
	cache.DevicesOf(s.cluster).Writer.Bell.Ring()
	s.send(func() { s.setClaim(c) })
}

func (s *loop) setClaim(c *resourcev1.ResourceClaim) {
	if before, replaced := cache.DevicesOf(s.cluster).SetClaim(c); replaced {
		s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.ResourceClaimChanged, Claim: c, OldClaim: before}, time.Now())
	}
}

func (s *loop) removeClaim(c *resourcev1.ResourceClaim) {
	if cache.DevicesOf(s.cluster).RemoveClaim(c) {
		s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.ResourceClaimChanged, OldClaim: c}, time.Now())
	}
}
