package resource

import "slices"

// Reset tells which fields a write through a path cannot set, because the
// strategy puts back what was there: nobody comes to own them that way.
type Reset struct {
	// Without are paths of fields that are put back.
	Without [][]string
	// Only, if there are any, are paths (a step "*" is any list element)
	// outside of which everything is put back.
	Only [][]string
}

func without(paths ...[]string) *Reset { return &Reset{Without: paths} }

var (
	specReset         = without([]string{"spec"})
	statusReset       = without([]string{"status"})
	metaAndSpecReset  = without([]string{"metadata"}, []string{"spec"})
	deploymentReset   = without([]string{"spec"}, []string{"metadata", "labels"})
	podReset          = without([]string{"spec"}, []string{"metadata", "deletionTimestamp"}, []string{"metadata", "ownerReferences"})
	requestReset      = without([]string{"spec"}, []string{"status"})
	requestStateReset = without([]string{"spec"}, []string{"status", "conditions"})
	approvalReset     = without([]string{"spec"}, []string{"status", "certificate"})
	debugReset        = &Reset{Only: [][]string{{"spec", "ephemeralContainers"}}}
	resizeReset       = &Reset{Only: [][]string{
		{"spec", "containers", "*", "resources"}, {"spec", "containers", "*", "resizePolicy"},
		{"spec", "initContainers", "*", "resources"}, {"spec", "initContainers", "*", "resizePolicy"},
	}}
)

// keepsMeta are the kinds, by group, whose status writes change no metadata.
var keepsMeta = map[string][]string{
	"admissionregistration.k8s.io": {"validatingadmissionpolicies"},
	"flowcontrol.apiserver.k8s.io": {"flowschemas", "prioritylevelconfigurations"},
	"internal.apiserver.k8s.io":    {"storageversions"},
	"networking.k8s.io":            {"servicecidrs"},
	"resource.k8s.io":              {"devicetaintrules", "resourceclaims", "resourcepoolstatusrequests"},
	"scheduling.k8s.io":            {"podgroups"},
	"storage.k8s.io":               {"volumeattachments"},
	"storagemigration.k8s.io":      {"storageversionmigrations"},
}

// Reset is that of the resource's own path, with "", or of a subresource.
func (r *Resource) Reset(subresource string) *Reset {
	switch key := r.Plural + "/" + subresource; {
	case key == "certificatesigningrequests/":
		return requestReset
	case key == "certificatesigningrequests/status":
		return requestStateReset
	case subresource == "approval":
		return approvalReset
	case subresource == "ephemeralcontainers":
		return debugReset
	case subresource == "resize":
		return resizeReset
	case subresource == "finalize", subresource == "" && r.Subresource("status") != nil:
		return statusReset
	case subresource != "status":
		return nil
	case key == "pods/status":
		return podReset
	case key == "deployments/status":
		return deploymentReset
	case slices.Contains(keepsMeta[r.Group], r.Plural):
		return metaAndSpecReset
	}
	return specReset
}
