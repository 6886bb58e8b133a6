package resource

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Resource is one row of the table: a kind as the API server serves it. Rows are built once and are immutable; they
// may be shared.
type Resource struct {
	Group, Plural, Singular, Kind string
	ShortNames, Categories        []string
	Namespaced                    bool

	// StoragePrefix is the key below which objects are stored, in the layout of kube-apiserver, without a trailing
	// slash: "/registry/pods". It is empty for kinds that are never stored. Two rows with the same prefix are two
	// views of the same objects (events).
	StoragePrefix string
	// StorageGroup is the group of the stored kind if that differs from Group. It is used only if SharesStorage is
	// set.
	StorageGroup string
	// SharesStorage marks a row whose objects are stored by another row.
	SharesStorage bool
	// StorageVersion names the version that is stored. It is one of Versions, unless SharesStorage is set: then it
	// is a version of StorageGroup.
	StorageVersion string
	Versions       []Version // preferred first
	// Unserved are versions that are not served, in which another API server may have stored objects.
	Unserved []Version

	Verbs        []string // as in discovery: create, delete, ...
	Subresources []Subresource
	Fields       []Field // selectable fields beside metadata.name and metadata.namespace
	// FieldAliases maps former labels of selectable fields to those in Fields.
	FieldAliases map[string]string
	// UnknownField returns the error for a field selector with a label that is none of
	// Fields. Nil means the usual one.
	UnknownField func(gvk schema.GroupVersionKind, label string) error

	// Columns are the columns of the kind's Table; Row returns the cells of an object in the same order. Ages are
	// relative to the time of the call, as in kube-apiserver. Both are nil for kinds without a table of their own:
	// such a kind shows name and creation time.
	Columns []metav1.TableColumnDefinition
	Row     func(obj runtime.Object) []any

	// Name validates a name or, with prefix, a generateName. It returns one message per error. Nil stands for a DNS
	// subdomain.
	Name func(name string, prefix bool) []string

	Strategy Strategy

	// List is the list kind if that is not Kind followed by "List".
	List string

	// Custom is set for kinds without a Go type. Each served version of such a kind is a row of its own, with only
	// that version in Versions.
	Custom Custom
	// Closed, if set, is the reason why objects can no longer be created.
	Closed string
	// Inert, if set, is the warning for a create or update of an object that no component acts on.
	Inert string

	// MetaLast marks a kind whose metadata is validated only if the rest of an object is valid.
	MetaLast bool

	// Virtual marks a kind that is returned but never stored (TokenReview, SubjectAccessReview, Binding,
	// ComponentStatus).
	Virtual bool
}

// Version is a served version of a resource.
type Version struct {
	Name         string
	New, NewList func() runtime.Object
	// ToStorage converts an object of this version to the storage version, FromStorage back. Both return a new
	// object and do not modify their argument; the two may share parts. Both are nil for the storage version.
	ToStorage, FromStorage func(runtime.Object) (runtime.Object, error)
	// OnRequest marks a version that is not served by default.
	OnRequest bool
	// Warning, if set, is sent to all users of the version.
	Warning string
}

// Subresource is a part of a resource with a URL of its own.
type Subresource struct {
	Name string // "status"
	Kind string // of the body
	// Group and Version are those of the body's kind. An empty Version stands for those of the request.
	Group, Version string
	Verbs          []string
	// Connects marks a connecting subresource, such as exec or proxy: it has no body, and Kind is the kind of its
	// options.
	Connects bool

	// PrepareForUpdate and ValidateUpdate replace the strategy's functions for writes of this subresource. They are
	// nil for status, which has its own in Strategy, and for bodies of another kind.
	PrepareForUpdate func(obj, old runtime.Object)
	ValidateUpdate   func(obj, old runtime.Object) field.ErrorList
}

// Field is a selectable field. Its value is the text at the first of Paths that is present in the stored JSON, or else Zero. A field without Paths is supported but always has the value Zero.
type Field struct {
	Label string
	Paths [][]string
	Zero  string
	// Indexed: watchers that select one value of the field are found by a look-up, however
	// many there are.
	Indexed bool
}

// Restrict leaves a row only the versions that are served. The others are still read.
func (r *Resource) Restrict(serves func(Version) bool) {
	var served, not []Version
	for _, v := range r.Versions {
		if serves(v) {
			served = append(served, v)
		} else {
			not = append(not, v)
		}
	}
	r.Versions, r.Unserved = served, slices.Concat(r.Unserved, not)
}

// GroupResource returns the group and resource.
func (r *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// GVK returns the kind in the given version.
func (r *Resource) GVK(version string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: version, Kind: r.Kind}
}

// GVR returns the resource in the given version.
func (r *Resource) GVR(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: version, Resource: r.Plural}
}

// StorageGVK returns the stored kind.
func (r *Resource) StorageGVK() schema.GroupVersionKind {
	group := r.Group
	if r.SharesStorage {
		group = r.StorageGroup
	}
	return schema.GroupVersionKind{Group: group, Version: r.StorageVersion, Kind: r.Kind}
}

// ListKind returns the kind of a list of these objects.
func (r *Resource) ListKind() string {
	if r.List != "" {
		return r.List
	}
	return r.Kind + "List"
}

// Hub returns the kind that the row's functions see: the stored one or, for custom kinds, that of the row's
// version.
func (r *Resource) Hub() schema.GroupVersionKind {
	if r.Custom != nil {
		return r.GVK(r.Versions[0].Name)
	}
	return r.StorageGVK()
}

// Version returns the served version of that name, or nil.
func (r *Resource) Version(name string) *Version {
	for i := range r.Versions {
		if r.Versions[i].Name == name {
			return &r.Versions[i]
		}
	}
	return nil
}

// Subresource returns the subresource of that name, or nil.
func (r *Resource) Subresource(name string) *Subresource {
	for i := range r.Subresources {
		if r.Subresources[i].Name == name {
			return &r.Subresources[i]
		}
	}
	return nil
}

// Has reports whether the resource is served with the verb.
func (r *Resource) Has(verb string) bool {
	for _, v := range r.Verbs {
		if v == verb {
			return true
		}
	}
	return false
}

// Key returns the storage key of an object. The namespace of a cluster-scoped resource is ignored.
func (r *Resource) Key(namespace, name string) string {
	if r.Namespaced {
		return r.StoragePrefix + "/" + namespace + "/" + name
	}
	return r.StoragePrefix + "/" + name
}
