package gates

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// plugins are the admission plugins that a gate guards, by name.
var plugins = map[string]string{
	"ClaimStatus":             "DRAResourceClaimGranularStatusAuthorization",
	"PodTopologyLabels":       "PodTopologyLabelsAdmission",
	"MutatingAdmissionPolicy": "MutatingAdmissionPolicy",
}

// HasPlugin reports whether the gates leave an admission plugin on.
func (a API) HasPlugin(name string) bool {
	gate, gated := plugins[name]
	if name == "PodGroupProtection" {
		gate, gated = "GenericWorkload", true // which is off by default
	}
	return !gated || a.Enabled(gate)
}

// gatedKinds are the kinds that a gate guards, which is off by default.
var gatedKinds = map[schema.GroupResource]string{
	{Group: "scheduling.k8s.io", Resource: "compositepodgroups"}:       "CompositePodGroup",
	{Group: "scheduling.k8s.io", Resource: "podgroups"}:                "GenericWorkload",
	{Group: "scheduling.k8s.io", Resource: "workloads"}:                "GenericWorkload",
	{Group: "resource.k8s.io", Resource: "resourcepoolstatusrequests"}: "DRAResourcePoolStatus",
}

// others are the gates that the server and the controllers ask for outside this package and that guard no field, and those
// of fields or kinds that can be switched on. APIServerIdentity can only be switched off together with
// UnknownVersionInteroperabilityProxy, of which the server has no more than without it.
var others = []string{
	"APIServerIdentity", "CBORServingAndStorage", "CompositePodGroup", "CoordinatedLeaderElection", "DRADeviceTaintRules",
	"DRAPartitionableDevicesType", "DRAResourcePoolStatus", "DRAWorkloadResourceClaims", "GenericWorkload",
	"PersistentVolumeClaimUnusedSinceTime", "PodGroupPreemptionPolicy", "StorageVersionAPI", "TopologyAwareWorkloadScheduling", "UnknownVersionInteroperabilityProxy", "WatchList",
	"WorkloadWithJob",
}

// Switchable reports whether the server has both sides of a gate, so that it can be switched from its default in the
// emulated version: the gates of fields and rules that are on in the newest version, and the others.
func Switchable(gate string) bool {
	switch {
	case slices.Contains(others, gate):
		return true
	case !newest()[gate]:
		return false
	}
	for _, of := range plugins {
		if of == gate {
			return true
		}
	}
	return slices.ContainsFunc(table, func(f gatedField) bool { return f.gate == gate }) ||
		slices.ContainsFunc(parts, func(p gatedPart) bool { return p.gate == gate }) ||
		slices.ContainsFunc(rules, func(r rule) bool { return r.gate == gate })
}
