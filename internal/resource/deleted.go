package resource

import "slices"

// showsDeleted has the kinds whose delete answers with the object, by group.
var showsDeleted = map[string][]string{
	"":                {"namespaces", "persistentvolumeclaims", "persistentvolumes", "pods", "podtemplates", "resourcequotas", "serviceaccounts", "services"},
	"storage.k8s.io":  {"csidrivers", "csinodes", "storageclasses", "volumeattachments", "volumeattributesclasses"},
	"resource.k8s.io": {"deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"},
}

// ShowsDeleted says whether a delete answers with the object; that of other
// kinds answers with a Status once the object is gone.
func (r *Resource) ShowsDeleted() bool {
	return slices.Contains(showsDeleted[r.Group], r.Plural)
}
