package resource

import "slices"

// showsDeleted lists, by group, the kinds whose delete returns the object.
var showsDeleted = map[string][]string{
	"":                {"namespaces", "persistentvolumeclaims", "persistentvolumes", "pods", "podtemplates", "resourcequotas", "serviceaccounts", "services"},
	"storage.k8s.io":  {"csidrivers", "csinodes", "storageclasses", "volumeattachments", "volumeattributesclasses"},
	"resource.k8s.io": {"deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"},
}

// ShowsDeleted reports whether a delete returns the object; for other kinds it returns a Status once the object is
// gone.
func (r *Resource) ShowsDeleted() bool {
	return slices.Contains(showsDeleted[r.Group], r.Plural)
}
