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

// NewReview starts the row of a kind that is created and returned, but never stored.
func NewReview[T any, PT pointer[T]](gv schema.GroupVersion, plural string) *Resource {
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

// WithShortNames sets the short names.
func (r *Resource) WithShortNames(names ...string) *Resource {
	r.ShortNames = names
	return r
}

// WithNoEffectWarning sets the warning for kinds whose objects have no effect.
func (r *Resource) WithNoEffectWarning(why string) *Resource {
	r.Inert = why
	return r
}

// WithCategories sets the categories.
func (r *Resource) WithCategories(categories ...string) *Resource {
	r.Categories = categories
	return r
}

// WithStatus adds the status subresource, its body being the kind itself.
func (r *Resource) WithStatus() *Resource { return r.WithSubresource("status") }

// WithSubresource adds a subresource whose body is the kind itself, with get, update and patch.
func (r *Resource) WithSubresource(name string) *Resource {
	r.Subresources = append(r.Subresources, Subresource{Name: name, Kind: r.Kind, Verbs: StatusVerbs})
	return r
}

// WithScale adds the scale subresource.
func (r *Resource) WithScale() *Resource {
	return r.WithSubresourceOfKind(Subresource{
		Name: "scale", Kind: "Scale", Group: "autoscaling", Version: "v1", Verbs: StatusVerbs,
	})
}

// WithSubresourceOfKind adds a subresource with a body of another kind.
func (r *Resource) WithSubresourceOfKind(s Subresource) *Resource {
	r.Subresources = append(r.Subresources, s)
	return r
}

// WithConnect adds a connecting subresource; kind is its options kind.
func (r *Resource) WithConnect(name, kind string, verbs []string) *Resource {
	return r.WithSubresourceOfKind(Subresource{Name: name, Kind: kind, Verbs: verbs, Connects: true})
}

// WithSelectableFields sets the selectable fields.
func (r *Resource) WithSelectableFields(fields ...Field) *Resource {
	r.Fields = fields
	return r
}

// Alias sets former labels of selectable fields.
func (r *Resource) Alias(aliases map[string]string) *Resource {
	r.FieldAliases = aliases
	return r
}

// WithSelectorError sets the error for a field selector with an unknown label.
func (r *Resource) WithSelectorError(f func(gvk schema.GroupVersionKind, label string) error) *Resource {
	r.UnknownField = f
	return r
}

// WithNameRule sets the rule for names.
func (r *Resource) WithNameRule(rule func(name string, prefix bool) []string) *Resource {
	r.Name = rule
	return r
}

// WithMetaValidatedLast makes metadata be validated only if the rest is valid.
func (r *Resource) WithMetaValidatedLast() *Resource {
	r.MetaLast = true
	return r
}

// WithTable sets the table of the kind.
func (r *Resource) WithTable(t Table) *Resource {
	r.Columns, r.Row = t.Columns, t.Row
	return r
}

// WithStrategy sets the strategy of the kind.
func (r *Resource) WithStrategy(s Strategy) *Resource {
	r.Strategy = s
	return r
}

// WithStoragePrefix sets a storage prefix other than "/registry/" and the plural.
func (r *Resource) WithStoragePrefix(prefix string) *Resource {
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
