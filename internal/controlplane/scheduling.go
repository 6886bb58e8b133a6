package controlplane

import (
	"context"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"

	"fairlead.dev/client"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/scheduler"
)

// The feature gates of kinds that the scheduler, a controller or the API server reads, and the others that the scheduler has for devices.
const (
	gateGroups      = "GenericWorkload"
	gateComposites  = "CompositePodGroup"
	gateGroupClaims = "DRAWorkloadResourceClaims"
	gateDevices     = "DynamicResourceAllocation"
	gateTaintRules  = "DRADeviceTaintRules"
	gatePoolStatus  = "DRAResourcePoolStatus"
	gateElections   = "CoordinatedLeaderElection"

	gateStorageVersions = "StorageVersionAPI"
	gateJobWorkloads    = "WorkloadWithJob"
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
		gateComposites:  hasGroups(o.API) && o.API.Enabled(gateComposites) && asked(composites)(o.API),
		gateGroupClaims: hasGroupClaims(o.API),
		gateDevices:     o.API.Enabled(gateDevices) && o.API.Has(resourcev1.SchemeGroupVersion, new(resourcev1.ResourceClaim)),
		gateTaintRules:  o.API.Enabled(gateTaintRules) && o.API.Has(resourcev1.SchemeGroupVersion, new(resourcev1.DeviceTaintRule)),
	}
	for _, gate := range otherDeviceGates {
		of.FeatureGates[gate] = o.API.Enabled(gate)
	}
	return of
}

// onRequest are the resources that a server serves only on request and a controller needs, with the gates that they tell of. A
// group has claims only if the server has their gate on.
var onRequest = map[schema.GroupVersionResource][]string{podGroups: {gateGroups, gateGroupClaims}, poolStatuses: {gatePoolStatus}}

// servedAPI returns the API of a server of which only its resources are known. Whether it registers StorageVersions, and whether
// Jobs have Workloads, the API of this process tells.
func (s clientSide) servedAPI(ctx context.Context, own gates.API) (api gates.API, err error) {
	serves, on := s.serves(ctx), map[string]bool{}
	for resource, names := range onRequest {
		if serves != nil && serves(resource) {
			api.Asked = append(api.Asked, resource)
			for _, gate := range names {
				on[gate] = true
			}
		}
	}
	if serves != nil && hasStorageVersions(own) && serves(storageVersions) {
		api.Asked, on[gateStorageVersions] = append(api.Asked, storageVersions), true
	}
	if on[gateGroups] && own.Enabled(gateJobWorkloads) && serves(workloads) {
		api.Asked, on[gateJobWorkloads] = append(api.Asked, workloads), true
	}
	if len(on) == 0 {
		return api, nil
	}
	all, err := gates.New(version.MustParse(gates.Newest))
	if err != nil {
		return api, err
	}
	api.Gates = all
	return api, all.SetFromMap(on)
}

// servedGates returns the gates that tell a scheduler which kinds a server has; nil if the server does not answer.
func (s clientSide) servedGates(ctx context.Context) map[string]bool {
	serves := s.serves(ctx)
	if serves == nil {
		return nil
	}
	groups := serves(podGroups)
	return map[string]bool{
		gateDevices:     serves(resourcev1.SchemeGroupVersion.WithResource("resourceclaims")),
		gateTaintRules:  serves(resourcev1.SchemeGroupVersion.WithResource("devicetaintrules")),
		gateGroups:      groups,
		gateComposites:  groups && serves(composites),
		gateGroupClaims: groups,
	}
}

// serves returns a function that reports whether the server has a resource; nil if the server does not answer.
func (s clientSide) serves(ctx context.Context) func(schema.GroupVersionResource) bool {
	c, err := s.wire(schedulerUser)
	if err != nil {
		return nil
	}
	all, _ := c.ServerResources(ctx)
	if len(all) == 0 {
		return nil
	}
	return func(of schema.GroupVersionResource) bool {
		return slices.ContainsFunc(all, func(r client.APIResource) bool { return r.GVR == of })
	}
}
