package barrier

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"fairlead.dev/internal/resource"
)

// A Report tells in which version the server stores a resource, and which it reads and serves. It is immutable.
type Report struct {
	Resource schema.GroupResource
	Encoding string
	// Decodable are the versions in which stored objects are read, those of other groups last, and Served those of the
	// resource's own group.
	Decodable, Served []string

	// covers are the resources whose objects these are.
	covers []schema.GroupResource
}

// Name is the name of the StorageVersion.
func (r *Report) Name() string { return cmp.Or(r.Resource.Group, "core") + "." + r.Resource.Resource }

// reports returns the reports of the rows that are stored. Rows that share their objects have one report, under the first of
// their groups.
func reports(rows []*resource.Resource) []*Report {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r *resource.Resource) bool { return r.Virtual || r.StoragePrefix == "" })
	slices.SortFunc(rows, func(a, b *resource.Resource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Plural, b.Plural))
	})
	var all []*Report
	first := map[string]*Report{} // by storage prefix
	for _, row := range rows {
		served := groupVersions(row, row.Versions)
		if r := first[row.StoragePrefix]; r != nil {
			r.Decodable, r.covers = append(r.Decodable, served...), append(r.covers, row.GroupResource())
			continue
		}
		r := &Report{
			Resource: row.GroupResource(), Encoding: row.StorageGVK().GroupVersion().String(),
			Decodable: groupVersions(row, slices.Concat(row.Versions, row.Unserved)), Served: served,
			covers: []schema.GroupResource{row.GroupResource()},
		}
		first[row.StoragePrefix] = r
		all = append(all, r)
	}
	return all
}

// groupVersions returns versions of a row with its group, the most stable and newest first.
func groupVersions(row *resource.Resource, of []resource.Version) (names []string) {
	of = slices.Clone(of)
	slices.SortFunc(of, func(a, b resource.Version) int { return version.CompareKubeAwareVersionStrings(b.Name, a.Name) })
	for _, v := range of {
		names = append(names, row.GVR(v.Name).GroupVersion().String())
	}
	return names
}
