package resource

import "slices"

var (
	specReset         = [][]string{{"spec"}}
	statusReset       = [][]string{{"status"}}
	metaAndSpecReset  = [][]string{{"metadata"}, {"spec"}}
	deploymentReset   = [][]string{{"spec"}, {"metadata", "labels"}}
	podReset          = [][]string{{"spec"}, {"metadata", "deletionTimestamp"}, {"metadata", "ownerReferences"}}
	requestReset      = [][]string{{"spec"}, {"status"}}
	requestStateReset = [][]string{{"spec"}, {"status", "conditions"}}
	approvalReset     = [][]string{{"spec"}, {"status", "certificate"}}
)

// keepsMeta lists, by group, the kinds whose status writes change no metadata.
var keepsMeta = map[string][]string{
	"admissionregistration.k8s.io": {"validatingadmissionpolicies"},
	"apiregistration.k8s.io":       {"apiservices"},
	"flowcontrol.apiserver.k8s.io": {"flowschemas", "prioritylevelconfigurations"},
	"internal.apiserver.k8s.io":    {"storageversions"},
	"networking.k8s.io":            {"servicecidrs"},
	"resource.k8s.io":              {"devicetaintrules", "resourceclaims", "resourcepoolstatusrequests"},
	"scheduling.k8s.io":            {"compositepodgroups", "podgroups"},
	"storage.k8s.io":               {"volumeattachments"},
	"storagemigration.k8s.io":      {"storageversionmigrations"},
}

// Reset returns the paths of the fields that a write of the resource itself (subresource "") or of a subresource
// cannot set, because the strategy restores their old values. Such a write does not record ownership of them.
func (r *Resource) Reset(subresource string) [][]string {
	switch key := r.Plural + "/" + subresource; {
	case key == "certificatesigningrequests/":
		return requestReset
	case key == "certificatesigningrequests/status":
		return requestStateReset
	case subresource == "approval":
		return approvalReset
	case subresource == "finalize", subresource == "" && r.Subresource("status") != nil:
		return statusReset
	case subresource != "status":
		return nil
	case key == "pods/status":
		return podReset
	case key == "deployments/status":
		return deploymentReset
	case r.Custom != nil, slices.Contains(keepsMeta[r.Group], r.Plural):
		return metaAndSpecReset
	}
	return specReset
}
