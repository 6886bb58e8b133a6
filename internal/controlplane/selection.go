package controlplane

import (
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	migrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource/gates"
)

// gated are the feature gates without which a controller does not run: its kinds or their fields are not there.
var gated = map[string]string{
	"clustertrustbundlepublisher":    "ClusterTrustBundle",
	"devicetainteviction":            "DRADeviceTaints",
	"podcertificaterequestcleaner":   "PodCertificateRequest",
	"podgroupprotection":             "GenericWorkload",
	"resourceclaim":                  "DynamicResourceAllocation",
	"resourcepoolstatusrequest":      gatePoolStatus,
	"storageversiongarbagecollector": gateStorageVersions, // which needs APIServerIdentity
	"storageversionmigrator":         "StorageVersionMigrator",
	"vacprotection":                  "VolumeAttributesClass",
}

// young tell for controllers whose kinds came after the oldest API whether an API has them.
var young = map[string]func(gates.API) bool{
	"clustertrustbundlepublisher":    has(certificatesv1.SchemeGroupVersion, new(certificatesv1.ClusterTrustBundle)),
	"podcertificaterequestcleaner":   has(certificatesv1.SchemeGroupVersion, new(certificatesv1.PodCertificateRequest)),
	"podgroupprotection":             asked(podGroups),
	"resourcepoolstatusrequest":      asked(poolStatuses),
	"storageversiongarbagecollector": asked(storageVersions),
	"storageversionmigrator":         has(migrationv1.SchemeGroupVersion, new(migrationv1.StorageVersionMigration)),
}

func has(version schema.GroupVersion, object runtime.Object) func(gates.API) bool {
	return func(api gates.API) bool { return api.Has(version, object) }
}

// The resources that are served only on request and that a controller, or the scheduler, needs.
var (
	podGroups       = schedulingv1beta1.SchemeGroupVersion.WithResource("podgroups")
	workloads       = schedulingv1beta1.SchemeGroupVersion.WithResource("workloads")
	composites      = schedulingv1alpha3.SchemeGroupVersion.WithResource("compositepodgroups")
	poolStatuses    = resourcev1alpha3.SchemeGroupVersion.WithResource("resourcepoolstatusrequests")
	leaseCandidates = coordinationv1beta1.SchemeGroupVersion.WithResource("leasecandidates")
)

// asked reports for a resource that is served only on request whether it is served.
func asked(r schema.GroupVersionResource) func(gates.API) bool {
	return func(api gates.API) bool { return slices.Contains(api.Asked, r) }
}

// hasGroups reports whether the API has pod groups, and hasGroupClaims whether they may have claims for devices.
func hasGroups(api gates.API) bool { return api.Enabled(gateGroups) && asked(podGroups)(api) }

func hasGroupClaims(api gates.API) bool {
	return hasGroups(api) && api.Enabled(gateDevices) && api.Enabled(gateGroupClaims)
}

// hasJobWorkloads reports whether the Job controller makes Workloads and PodGroups for Jobs.
func hasJobWorkloads(api gates.API) bool {
	return hasGroups(api) && asked(workloads)(api) && api.Enabled(gateJobWorkloads)
}

// hasElections reports whether the API server elects the holders of Leases among their LeaseCandidates.
func hasElections(api gates.API) bool {
	return api.Enabled(gateElections) && asked(leaseCandidates)(api)
}

// onlyByName are the controllers that "*" does not stand for, as in kube-controller-manager.
var onlyByName = map[string]bool{"selinuxwarning": true}

// runs reports whether the API has what a controller needs.
func runs(controller string, api gates.API) bool {
	if gate, ok := gated[controller]; ok && !api.Enabled(gate) {
		return false
	}
	served, ok := young[controller]
	return !ok || served(api)
}

// ControllerNames are the names of all built-in controllers, sorted.
func ControllerNames() []string {
	names := make([]string, len(builtins))
	for i, b := range builtins {
		names[i] = b.name
	}
	return names
}

// CheckControllers returns an error if a list of controllers is not valid. Each item is a
// name, here or in kube-controller-manager, a name with "-" before it (not this one), or "*" (all that are not named and are on by
// default).
func CheckControllers(list []string) error {
	for _, item := range list {
		name := strings.TrimPrefix(item, "-")
		switch u := upstreamNames[name]; {
		case u.part:
			return fmt.Errorf("--controllers: %s is a part of the controller %s, which has no switches for its parts", name, u.here)
		case item != "*" && u.here == "" && !slices.Contains(ControllerNames(), name):
			return fmt.Errorf("--controllers: there is no controller %q; all are: %s", name, strings.Join(ControllerNames(), ", "))
		}
	}
	return nil
}

// selected picks the controllers that a list asks for, that are configured, and that the API has the gates for.
func selected(list []string, ranges Ranges, api gates.API) []entry {
	asked := map[string]bool{}
	for _, item := range list {
		asked[here(item)] = true
	}
	var picked []entry
	for _, b := range builtins {
		if (asked[b.name] || asked["*"] && !onlyByName[b.name]) && !asked["-"+b.name] && ranges.configured(b.name) && runs(b.name, api) {
			picked = append(picked, b)
		}
	}
	return picked
}
