package apiextensions

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/resource"
)

var table = resource.TableOf(row,
	resource.NameColumn,
	resource.Text("Scope", "Cluster or Namespaced."),
	resource.Text("Versions", "The served versions."),
	resource.CreatedColumn,
	resource.WideOnly(resource.Text("Group", "The group of the defined kind.")),
	resource.WideOnly(resource.Text("Kind", "The name of the defined kind.")),
	resource.WideOnly(resource.Text("ShortNames", "Short names for the command line.")),
	resource.WideOnly(metav1.TableColumnDefinition{Name: "Established", Type: "boolean", Description: "Whether the kind is served."}),
)

func row(d definition) []any {
	s, established := &d.Spec, false
	var versions []string
	for _, v := range s.Versions {
		switch {
		case v.Served && v.Storage:
			versions = append(versions, v.Name+"(storage)")
		case v.Served:
			versions = append(versions, v.Name)
		}
	}
	slices.Sort(versions)
	for _, c := range d.Status.Conditions {
		established = established || c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	}
	return []any{d.Name, string(s.Scope), strings.Join(versions, ","), resource.CreatedAt(d), s.Group, s.Names.Kind, strings.Join(s.Names.ShortNames, ","), established}
}
