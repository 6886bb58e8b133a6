package resource

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The verbs of discovery, in its order.
var (
	AllVerbs    = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	StatusVerbs = []string{"get", "patch", "update"}
	CreateVerb  = []string{"create"}
	StreamVerbs = []string{"create", "get"}
	ProxyVerbs  = []string{"create", "delete", "get", "patch", "update"}
)

type pointer[T any] interface {
	*T
	runtime.Object
}

// NamespaceScoped starts the row of a namespaced kind with Go type T and list type
// L, served and stored in one version with all verbs. The kind is T's name.
func NamespaceScoped[T, L any, PT pointer[T], PL pointer[L]](gv schema.GroupVersion, plural string) *Resource {
	kind := reflect.TypeFor[T]().Name()
	return &Resource{
		Group:          gv.Group,
		Plural:         plural,
		Singular:       strings.ToLower(kind),
		Kind:           kind,
		Namespaced:     true,
		StoragePrefix:  "/registry/" + plural,
		StorageVersion: gv.Version,
		Versions:       []Version{VersionOf[T, L, PT, PL](gv.Version)},
		Verbs:          AllVerbs,
	}
}

// ClusterScoped is InNamespace for a cluster-scoped kind.
func ClusterScoped[T, L any, PT pointer[T], PL pointer[L]](gv schema.GroupVersion, plural string) *Resource {
	r := NamespaceScoped[T, L, PT, PL](gv, plural)
	r.Namespaced = false
	return r
}

// Review starts the row of a kind that is created and returned, but never stored.
func Review[T any, PT pointer[T]](gv schema.GroupVersion, plural string) *Resource {
	r := NamespaceScoped[T, T, PT, PT](gv, plural)
	r.Namespaced, r.Virtual = false, true
	r.StoragePrefix, r.Verbs = "", CreateVerb
	r.Versions[0].NewList = nil
	return r
}

// VersionOf returns a version of that name with the given Go types.
func VersionOf[T, L any, PT pointer[T], PL pointer[L]](name string) Version {
	return Version{
		Name:    name,
		New:     func() runtime.Object { return PT(new(T)) },
		NewList: func() runtime.Object { return PL(new(L)) },
	}
}

// Short sets the short names.
func (r *Resource) Short(names ...string) *Resource {
	r.ShortNames = names
	return r
}

// Idle sets the warning for kinds whose objects have no effect.
func (r *Resource) Idle(why string) *Resource {
	r.Inert = why
	return r
}

// In sets the categories.
func (r *Resource) In(categories ...string) *Resource {
	r.Categories = categories
	return r
}

// WithStatus adds the status subresource, its body being the kind itself.
func (r *Resource) WithStatus() *Resource { return r.With("status") }

// With adds a subresource whose body is the kind itself, with get, update and patch.
func (r *Resource) With(name string) *Resource {
	r.Subresources = append(r.Subresources, Subresource{Name: name, Kind: r.Kind, Verbs: StatusVerbs})
	return r
}

// WithScale adds the scale subresource.
func (r *Resource) WithScale() *Resource {
	return r.WithOther(Subresource{
		Name: "scale", Kind: "Scale", Group: "autoscaling", Version: "v1", Verbs: StatusVerbs,
	})
}

// WithOther adds a subresource with a body of another kind.
func (r *Resource) WithOther(s Subresource) *Resource {
	r.Subresources = append(r.Subresources, s)
	return r
}

// Leads adds a connecting subresource; kind is its options kind.
func (r *Resource) Leads(name, kind string, verbs []string) *Resource {
	return r.WithOther(Subresource{Name: name, Kind: kind, Verbs: verbs, Connects: true})
}

// Select sets the selectable fields.
func (r *Resource) Select(fields ...Field) *Resource {
	r.Fields = fields
	return r
}

// Alias sets former labels of selectable fields.
func (r *Resource) Alias(aliases map[string]string) *Resource {
	r.FieldAliases = aliases
	return r
}

// Refuse sets the error for a field selector with an unknown label.
func (r *Resource) Refuse(f func(gvk schema.GroupVersionKind, label string) error) *Resource {
	r.UnknownField = f
	return r
}

// Named sets the rule for names.
func (r *Resource) Named(rule func(name string, prefix bool) []string) *Resource {
	r.Name = rule
	return r
}

// LooksAtMetaLast makes metadata be validated only if the rest is valid.
func (r *Resource) LooksAtMetaLast() *Resource {
	r.MetaLast = true
	return r
}

// Shown sets the table of the kind.
func (r *Resource) Shown(t Table) *Resource {
	r.Columns, r.Row = t.Columns, t.Row
	return r
}

// Ruled sets the strategy of the kind.
func (r *Resource) Ruled(s Strategy) *Resource {
	r.Strategy = s
	return r
}

// At sets a storage prefix other than "/registry/" and the plural.
func (r *Resource) At(prefix string) *Resource {
	r.StoragePrefix = prefix
	return r
}

// FieldAt returns a selectable field named by its path in the object.
func FieldAt(label, zero string) Field {
	return Field{Label: label, Zero: zero, Paths: [][]string{strings.Split(label, ".")}}
}

// Index returns the field with Indexed set.
func (f Field) Index() Field {
	f.Indexed = true
	return f
}
