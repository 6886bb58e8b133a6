package controlplane

import (
	"context"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"fairlead.dev/client"
	"fairlead.dev/scheduler"
)

// The feature gates of the kinds that the scheduler reads for devices, and the others that it has for them.
const (
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
		gateDevices:    o.API.Enabled(gateDevices) && o.API.Has(resourcev1.SchemeGroupVersion, new(resourcev1.ResourceClaim)),
		gateTaintRules: o.API.Enabled(gateTaintRules) && o.API.Has(resourcev1.SchemeGroupVersion, new(resourcev1.DeviceTaintRule)),
	}
	for _, gate := range otherDeviceGates {
		of.FeatureGates[gate] = o.API.Enabled(gate)
	}
	return of
}

// deviceGates returns the gates that tell a scheduler which kinds a server has; nil if the server does not answer.
func (s clientSide) deviceGates(ctx context.Context) map[string]bool {
	c, err := s.wire(schedulerUser)
	if err != nil {
		return nil
	}
	all, _ := c.ServerResources(ctx)
	if len(all) == 0 {
		return nil
	}
	serves := func(plural string) bool {
		return slices.ContainsFunc(all, func(r client.APIResource) bool {
			return r.GVR == resourcev1.SchemeGroupVersion.WithResource(plural)
		})
	}
	return map[string]bool{gateDevices: serves("resourceclaims"), gateTaintRules: serves("devicetaintrules")}
}
