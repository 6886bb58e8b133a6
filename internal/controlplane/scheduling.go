package controlplane

import (
	"context"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"

	"fairlead.dev/client"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/scheduler"
)

// The feature gates of the kinds that the scheduler reads for pod groups and devices, and the others that it has for devices.
const (
	gateGroups      = "GenericWorkload"
	gateGroupClaims = "DRAWorkloadResourceClaims"
	gateDevices     = "DynamicResourceAllocation"
	gateTaintRules  = "DRADeviceTaintRules"
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
		gateGroups:      hasGroups(o.API),
		gateGroupClaims: hasGroupClaims(o.API),
		gateDevices:     o.API.Enabled(gateDevices) && o.API.Has(resourcev1.SchemeGroupVersion, new(resourcev1.ResourceClaim)),
		gateTaintRules:  o.API.Enabled(gateTaintRules) && o.API.Has(resourcev1.SchemeGroupVersion, new(resourcev1.DeviceTaintRule)),
	}
	for _, gate := range otherDeviceGates {
		of.FeatureGates[gate] = o.API.Enabled(gate)
	}
	return of
}

// servedAPI returns the API of a server of which only its resources are known. If it serves pod groups, these may have claims:
// otherwise the server drops them.
func (s clientSide) servedAPI(ctx context.Context) (api gates.API, err error) {
	if !s.servedGates(ctx)[gateGroups] {
		return api, nil
	}
	all, err := gates.New(version.MustParse(gates.Newest))
	if err != nil {
		return api, err
	}
	if err := all.SetFromMap(map[string]bool{gateGroups: true, gateGroupClaims: true}); err != nil {
		return api, err
	}
	return gates.API{Gates: all, Asked: []schema.GroupVersionResource{schedulingv1beta1.SchemeGroupVersion.WithResource("podgroups")}}, nil
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
	groups := serves(schedulingv1beta1.SchemeGroupVersion, "podgroups")
	return map[string]bool{
		gateDevices:     serves(resourcev1.SchemeGroupVersion, "resourceclaims"),
		gateTaintRules:  serves(resourcev1.SchemeGroupVersion, "devicetaintrules"),
		gateGroups:      groups,
		gateGroupClaims: groups, // a group has claims only if the server has the gate on
	}
}
