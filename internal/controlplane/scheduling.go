package controlplane

import (
	"context"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
	"fairlead.dev/scheduler"
)

// The feature gates of the kinds that the scheduler reads for pod groups and devices, and the others that it has for devices.
const (
	gateGroups     = "GenericWorkload"
	gateDevices    = "DynamicResourceAllocation"
	gateTaintRules = "DRADeviceTaintRules"
)

var otherDeviceGates = []string{
	"DRAAdminAccess", "DRAConsumableCapacity", "DRADerivedAttributes", "DRADeviceBindingConditions", "DRADeviceCompatibilityGroups",
	"DRADeviceTaints", "DRAFractionalCapacityRange", "DRAListTypeAttributes", "DRAOptionalNodeOperations", "DRAPartitionableDevices",
	"DRAPrioritizedList", "DRAResourceClaimDeviceStatus",
}

// scheduling returns the options of the scheduler, with its metrics and the server's feature gates.
func (o Options) scheduling(m partMetrics) scheduler.Options {
	of := m.in(o.Scheduling)
	of.FeatureGates = map[string]bool{
		gateGroups:     o.API.Enabled(gateGroups) && asked(podGroups)(o.API),
		gateDevices:    o.API.Enabled(gateDevices) && o.API.Has(resourcev1.SchemeGroupVersion, new(resourcev1.ResourceClaim)),
		gateTaintRules: o.API.Enabled(gateTaintRules) && o.API.Has(resourcev1.SchemeGroupVersion, new(resourcev1.DeviceTaintRule)),
	}
	for _, gate := range otherDeviceGates {
		of.FeatureGates[gate] = o.API.Enabled(gate)
	}
	return of
}

// servedGates returns the gates that tell a scheduler which kinds a server has; nil if the server does not answer.
func (s clientSide) servedGates(ctx context.Context) map[string]bool {
	c, err := s.wire(schedulerUser)
	if err != nil {
		return nil
	}
	all, _ := c.ServerResources(ctx)
	if len(all) == 0 {
		return nil
	}
	serves := func(version schema.GroupVersion, plural string) bool {
		return slices.ContainsFunc(all, func(r client.APIResource) bool { return r.GVR == version.WithResource(plural) })
	}
	return map[string]bool{
		gateDevices:    serves(resourcev1.SchemeGroupVersion, "resourceclaims"),
		gateTaintRules: serves(resourcev1.SchemeGroupVersion, "devicetaintrules"),
		gateGroups:     serves(schedulingv1beta1.SchemeGroupVersion, "podgroups"),
	}
}
