package custom

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubeversion "k8s.io/apimachinery/pkg/version"

	"fairlead.dev/internal/resource"
)

// Resources returns the rows of the served versions, preferred first. There are no rows until the definition's names
// are accepted.
func (k *Kind) Resources() (rows []*resource.Resource) {
	d := k.Definition
	if !namesAccepted(d) {
		return nil
	}
	for _, v := range k.versions {
		if v.Served {
			rows = append(rows, v.resource())
		}
	}
	slices.SortFunc(rows, func(a, b *resource.Resource) int {
		return kubeversion.CompareKubeAwareVersionStrings(b.Versions[0].Name, a.Versions[0].Name)
	})
	return rows
}

func namesAccepted(d *apiextensionsv1.CustomResourceDefinition) bool {
	return apihelpers.IsCRDConditionTrue(d, apiextensionsv1.NamesAccepted) || apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established)
}

func closed(d *apiextensionsv1.CustomResourceDefinition) string {
	if d.DeletionTimestamp != nil || apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Terminating) {
		return "create not allowed while custom resource definition is terminating"
	}
	return ""
}

// verbs are the verbs of custom kinds, in their order in discovery.
var verbs = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}

func (v *version) resource() *resource.Resource {
	d := v.kind.Definition
	names := d.Status.AcceptedNames
	storage, _ := apihelpers.GetCRDStorageVersion(d) // a valid definition has one
	gvk := schema.GroupVersionKind{Group: d.Spec.Group, Version: v.Name, Kind: names.Kind}
	list := gvk
	list.Kind = cmp.Or(names.ListKind, names.Kind+"List")
	r := &resource.Resource{
		Group: d.Spec.Group, Plural: names.Plural, Singular: names.Singular, Kind: names.Kind, List: list.Kind,
		ShortNames: names.ShortNames, Categories: names.Categories,
		Namespaced:     d.Spec.Scope == apiextensionsv1.NamespaceScoped,
		StoragePrefix:  "/registry/" + d.Spec.Group + "/" + d.Spec.Names.Plural,
		StorageVersion: storage,
		Verbs:          verbs,
		Custom:         v,
		Closed:         closed(d),
		Strategy:       v.strategy(),
		Versions: []resource.Version{{
			Name:    v.Name,
			New:     func() runtime.Object { return newObject(gvk) },
			NewList: func() runtime.Object { l := &unstructured.UnstructuredList{}; l.SetGroupVersionKind(list); return l },
			Warning: v.deprecation(),
		}},
	}
	if v.hasStatus() {
		r.WithStatus()
	}
	if v.scale() != nil {
		r.WithScale()
	}
	for _, f := range v.SelectableFields {
		r.Fields = append(r.Fields, resource.FieldAt(strings.TrimPrefix(f.JSONPath, "."), ""))
	}
	return r.WithTable(v.table())
}

func newObject(gvk schema.GroupVersionKind) *resource.Untyped {
	u := &resource.Untyped{}
	u.SetGroupVersionKind(gvk)
	return u
}

// deprecation returns the deprecation warning of the version, "" if it is not deprecated.
func (v *version) deprecation() string {
	if !v.Deprecated {
		return ""
	}
	if v.DeprecationWarning != nil {
		return *v.DeprecationWarning
	}
	s := v.kind.Definition.Spec
	text := s.Group + "/" + v.Name + " " + s.Names.Kind + " is deprecated"
	better := ""
	for _, other := range s.Versions {
		if other.Served && !other.Deprecated && kubeversion.CompareKubeAwareVersionStrings(v.Name, other.Name) < 0 &&
			(better == "" || kubeversion.CompareKubeAwareVersionStrings(better, other.Name) < 0) {
			better = other.Name
		}
	}
	if better != "" {
		text += "; use " + s.Group + "/" + better + " " + s.Names.Kind
	}
	return text
}
