package resource

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Resource is one row of the table: a kind as the API server serves it.
// Rows are built once and not changed afterwards; they may be shared.
type Resource struct {
	Group, Plural, Singular, Kind string
	ShortNames, Categories        []string
	Namespaced                    bool

	// StoragePrefix is the key below which objects are stored, in the layout
	// of kube-apiserver, without a trailing slash: "/registry/pods". It is
	// empty for kinds that are never stored. Two rows with the same prefix
	// are two views of the same objects (events).
	StoragePrefix string
	// StorageGroup is the group of the stored kind where that is not Group.
	// It has a meaning only if SharesStorage is set.
	StorageGroup string
	// SharesStorage marks a row whose objects another row stores.
	SharesStorage bool
	// StorageVersion names the version that is stored. It is one of Versions,
	// unless SharesStorage is set: then it is a version of StorageGroup.
	StorageVersion string
	Versions       []Version // preferred first

	Verbs        []string // what discovery shows: create, delete, ...
	Subresources []Subresource
	Fields       []Field // selectable fields beside metadata.name and metadata.namespace

	// Columns are those of the kind's Table; Row gives the cells of one
	// object in the same order. Ages are worded relative to the time of the
	// call, as kube-apiserver does. Both are nil for kinds without a table of
	// their own: such a kind shows name and creation time.
	Columns []metav1.TableColumnDefinition
	Row     func(obj runtime.Object) []any

	// Name validates a name, or with prefix set the generateName in front of
	// one. It returns one message per fault. Nil means a DNS subdomain.
	Name func(name string, prefix bool) []string

	Strategy Strategy

	// List is the kind of a list of these objects where that is not Kind
	// with "List" behind it.
	List string

	// Custom is set for kinds that have no Go type. Each served version of
	// such a kind is a row of its own, with this one in Versions.
	Custom Custom
	// Closed, if not empty, is why no object can be created any more.
	Closed string
	// Inert, if not empty, is told to whoever creates or updates an object: that nothing
	// acts on it.
	Inert string

	// MetaLast marks a kind whose metadata is looked at only if nothing else is wrong
	// with an object.
	MetaLast bool

	// Virtual marks a kind that is answered and never stored
	// (TokenReview, SubjectAccessReview, Binding, ComponentStatus).
	Virtual bool
}

// Version is one version in which a resource is served.
type Version struct {
	Name         string
	New, NewList func() runtime.Object
	// ToStorage turns an object of this version into one of the storage
	// version, FromStorage is the way back. Both return a new object and
	// leave their argument alone; parts may be shared between the two. Both
	// are nil for the storage version.
	ToStorage, FromStorage func(runtime.Object) (runtime.Object, error)
	// Warning is told to all who use the version, if not empty.
	Warning string
}

// Subresource is a part of a resource with an URL of its own.
type Subresource struct {
	Name string // "status"
	Kind string // of the body
	// Group and Version are those of the body's kind. An empty Version means
	// those of the request.
	Group, Version string
	Verbs          []string
	// Connects marks a subresource that leads elsewhere: it has no body of Kind, which
	// is that of its options.
	Connects bool

	// PrepareForUpdate and ValidateUpdate take the place of the strategy's
	// functions for writes of this subresource. They are nil for status,
	// which has its own in Strategy, and for bodies of another kind.
	PrepareForUpdate func(obj, old runtime.Object)
	ValidateUpdate   func(obj, old runtime.Object) field.ErrorList
}

// Field is a selectable field. Its value is the text found at the first of
// Paths that is present in the stored JSON, or Zero if none is. A field without
// Paths may be asked for and is always Zero.
type Field struct {
	Label string
	Paths [][]string
	Zero  string
}

// GroupResource names the resource.
func (r *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// GVK is the kind in the given version.
func (r *Resource) GVK(version string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: version, Kind: r.Kind}
}

// GVR is the resource in the given version.
func (r *Resource) GVR(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: version, Resource: r.Plural}
}

// StorageGVK is the kind as it is stored.
func (r *Resource) StorageGVK() schema.GroupVersionKind {
	group := r.Group
	if r.SharesStorage {
		group = r.StorageGroup
	}
	return schema.GroupVersionKind{Group: group, Version: r.StorageVersion, Kind: r.Kind}
}

// ListKind is the kind of a list of these objects.
func (r *Resource) ListKind() string {
	if r.List != "" {
		return r.List
	}
	return r.Kind + "List"
}

// Hub is the kind as the row's functions see it: the stored one, or for custom
// kinds that of the row's version.
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

// Has says whether the resource is served with the verb.
func (r *Resource) Has(verb string) bool {
	for _, v := range r.Verbs {
		if v == verb {
			return true
		}
	}
	return false
}

// Key is the storage key of an object. The namespace of a cluster-scoped
// resource is left out.
func (r *Resource) Key(namespace, name string) string {
	if r.Namespaced {
		return r.StoragePrefix + "/" + namespace + "/" + name
	}
	return r.StoragePrefix + "/" + name
}
