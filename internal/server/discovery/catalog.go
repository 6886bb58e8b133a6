package discovery

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/apiregistration"
)

// catalog holds the resources by group and version.
type catalog []group

type group struct {
	name     string
	versions []groupVersion // preferred first
}

// priority is the priority of the group's first version.
func (g *group) priority() (highest int32) {
	for _, v := range g.versions {
		highest = max(highest, v.priority.Group)
	}
	return highest
}

type groupVersion struct {
	name      string
	priority  apiregistration.Priority
	resources []*resource.Resource // by plural
	remote    *Remote              // set if another server serves it; resources is then empty
	unlisted  bool
}

// newCatalog sorts groups, and the versions of each, by priority. Versions of equal priority are sorted by
// maturity.
func newCatalog(resources []*resource.Resource, remotes []Remote, unlisted []schema.GroupVersion) catalog {
	var c []group
	for i := range remotes {
		r := &remotes[i]
		g := find(&c, func(g *group) bool { return g.name == r.Group }, group{name: r.Group})
		g.versions = append(g.versions, groupVersion{name: r.Version.Version, priority: r.Priority, remote: r})
	}
	for _, r := range resources {
		if len(r.Versions) == 0 {
			continue
		}
		g := find(&c, func(g *group) bool { return g.name == r.Group }, group{name: r.Group})
		for _, v := range r.Versions {
			gv := find(&g.versions, func(gv *groupVersion) bool { return gv.name == v.Name }, groupVersion{
				name: v.Name, priority: apiregistration.PriorityOf(schema.GroupVersion{Group: r.Group, Version: v.Name}),
			})
			if gv.remote == nil {
				gv.resources = append(gv.resources, r)
			}
		}
	}
	slices.SortFunc(c, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.priority(), a.priority()), strings.Compare(a.name, b.name))
	})
	for _, g := range c {
		slices.SortFunc(g.versions, func(a, b groupVersion) int {
			return cmp.Or(cmp.Compare(b.priority.Version, a.priority.Version), version.CompareKubeAwareVersionStrings(b.name, a.name))
		})
		for i := range g.versions {
			gv := &g.versions[i]
			gv.unlisted = slices.Contains(unlisted, schema.GroupVersion{Group: g.name, Version: gv.name})
			slices.SortFunc(gv.resources, func(a, b *resource.Resource) int { return cmp.Compare(a.Plural, b.Plural) })
		}
	}
	return c
}

// find returns the element for which is returns true, appending other if it is missing.
func find[T any](list *[]T, is func(*T) bool, other T) *T {
	i := slices.IndexFunc(*list, func(t T) bool { return is(&t) })
	if i < 0 {
		i = len(*list)
		*list = append(*list, other)
	}
	return &(*list)[i]
}

// document returns the unaggregated document at the path, or nil.
func (c catalog) document(path, host string) runtime.Object {
	parts := strings.Split(path, "/")
	switch {
	case path == "/api":
		if core := c.group(""); core != nil {
			return apiVersions(core, host)
		}
	case path == "/apis":
		return c.groups()
	case len(parts) == 3 && parts[1] == "api":
		return c.resources("", parts[2])
	case len(parts) == 3 && parts[1] == "apis":
		if g := c.group(parts[2]); g != nil && g.name != "" {
			one := apiGroup(g, !g.listed())
			one.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroup"}
			return &one
		}
	case len(parts) == 4 && parts[1] == "apis" && parts[2] != "":
		return c.resources(parts[2], parts[3])
	}
	return nil
}

func (c catalog) group(name string) *group {
	for i := range c {
		if c[i].name == name {
			return &c[i]
		}
	}
	return nil
}

func apiVersions(core *group, host string) runtime.Object {
	v := &metav1.APIVersions{
		TypeMeta:                   metav1.TypeMeta{Kind: "APIVersions"},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: host}},
	}
	for _, gv := range core.versions {
		v.Versions = append(v.Versions, gv.name)
	}
	return v
}

func (c catalog) groups() runtime.Object {
	list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}, Groups: []metav1.APIGroup{}}
	for i := range c {
		if c[i].name != "" && c[i].listed() {
			list.Groups = append(list.Groups, apiGroup(&c[i], false))
		}
	}
	return list
}

// listed reports whether any version of the group is listed.
func (g *group) listed() bool {
	return slices.ContainsFunc(g.versions, func(gv groupVersion) bool { return !gv.unlisted })
}

func apiGroup(g *group, all bool) metav1.APIGroup {
	out := metav1.APIGroup{Name: g.name}
	for _, gv := range g.versions {
		if gv.unlisted && !all {
			continue
		}
		out.Versions = append(out.Versions, metav1.GroupVersionForDiscovery{GroupVersion: g.name + "/" + gv.name, Version: gv.name})
	}
	out.PreferredVersion = out.Versions[0]
	return out
}

func (c catalog) resources(groupName, versionName string) runtime.Object {
	g := c.group(groupName)
	if g == nil {
		return nil
	}
	i := slices.IndexFunc(g.versions, func(gv groupVersion) bool { return gv.name == versionName })
	if i < 0 {
		return nil
	}
	list := &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: metav1.GroupVersion{Group: groupName, Version: versionName}.String(),
		APIResources: []metav1.APIResource{},
	}
	if groupName == "" { // the oldest document format has fewer fields
		list.APIVersion = ""
	}
	for _, r := range g.versions[i].resources {
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: r.Plural, SingularName: r.Singular, Namespaced: r.Namespaced, Kind: r.Kind,
			Verbs: verbs(r), ShortNames: r.ShortNames, Categories: r.Categories,
			StorageVersionHash: storageVersionHash(r),
		})
		for _, s := range subresources(r) {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: r.Plural + "/" + s.Name, Namespaced: r.Namespaced,
				Group: s.Group, Version: s.Version, Kind: s.Kind, Verbs: sorted(s.Verbs),
			})
		}
	}
	return list
}

func subresources(r *resource.Resource) []resource.Subresource {
	if r.Custom != nil { // in their order
		return r.Subresources
	}
	return slices.SortedFunc(slices.Values(r.Subresources), func(a, b resource.Subresource) int { return cmp.Compare(a.Name, b.Name) })
}

func verbs(r *resource.Resource) []string {
	if r.Custom != nil {
		return r.Verbs
	}
	return sorted(r.Verbs)
}

func sorted(verbs []string) []string { return slices.Sorted(slices.Values(verbs)) }

// storageVersionHash changes with the storage version. It is empty for resources that are not stored.
func storageVersionHash(r *resource.Resource) string {
	if r.Virtual || r.StoragePrefix == "" {
		return ""
	}
	gvk := r.StorageGVK()
	sum := sha256.Sum256([]byte(gvk.Group + "/" + gvk.Version + "/" + gvk.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}
