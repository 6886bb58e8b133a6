package server

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/openapi"
)

// merges holds what merges applied configurations, by resource and version. It
// is made of the kind's schemas when somebody first applies to it.
type merges struct {
	mu struct {
		sync.Mutex
		converters map[*resource.Resource]managedfields.TypeConverter
		managers   map[mergeKey]*managedfields.FieldManager
		scale      *managedfields.FieldManager
	}
}

type mergeKey struct {
	r                    *resource.Resource
	version, subresource string
}

// keep forgets the resources that are not served any more.
func (m *merges) keep(resources []*resource.Resource) {
	served := map[*resource.Resource]bool{}
	for _, r := range resources {
		served[r] = true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.mu.converters, func(r *resource.Resource, _ managedfields.TypeConverter) bool { return !served[r] })
	maps.DeleteFunc(m.mu.managers, func(k mergeKey, _ *managedfields.FieldManager) bool { return !served[k.r] })
}

// manager merges configurations of the endpoint's version. Where versions are converted
// by another program, it asks for as long as ctx lasts, and is one request's.
func (m *merges) manager(ctx context.Context, ep *endpoint, subresource string) (*managedfields.FieldManager, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := mergeKey{ep.Resource, ep.version.Name, subresource}
	if f := m.mu.managers[key]; f != nil && !ep.asks() {
		return f, nil
	}
	if m.mu.managers == nil {
		m.mu.managers = map[mergeKey]*managedfields.FieldManager{}
		m.mu.converters = map[*resource.Resource]managedfields.TypeConverter{}
	}
	types := m.mu.converters[ep.Resource]
	if types == nil {
		var err error
		if types, err = typesOf(ep.Resource); err != nil {
			return nil, err
		}
		m.mu.converters[ep.Resource] = types
	}
	conv := converter{ctx, ep}
	if !ep.asks() {
		conv.ctx = context.Background() // nobody is waited for
	}
	build := managedfields.NewDefaultFieldManager
	if ep.Custom != nil {
		build = managedfields.NewDefaultCRDFieldManager
	}
	f, err := build(types, conv, conv, conv, ep.gvk, ep.Hub().GroupVersion(), subresource, resetFilters(ep, subresource))
	if err == nil && !ep.asks() {
		m.mu.managers[key] = f
	}
	return f, err
}

func typesOf(r *resource.Resource) (managedfields.TypeConverter, error) {
	if r.Custom != nil {
		return customTypes(r)
	}
	models, err := openapi.Models([]*resource.Resource{r}, resource.Scheme())
	if err != nil {
		return nil, err
	}
	return managedfields.NewTypeConverter(models, false)
}

// resetFilters is the resource's Reset for every version.
func resetFilters(ep *endpoint, subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	reset := ep.Reset(subresource)
	if reset == nil {
		return nil
	}
	set := fieldpath.NewSet()
	for _, path := range reset {
		steps := make([]any, len(path))
		for i, s := range path {
			steps[i] = s
		}
		set.Insert(fieldpath.MakePathOrDie(steps...))
	}
	filters := map[fieldpath.APIVersion]fieldpath.Filter{}
	names := []string{ep.version.Name}
	if ep.Custom == nil {
		names = names[:0]
		for _, v := range ep.Versions {
			names = append(names, v.Name)
		}
	}
	for _, name := range names {
		filters[fieldpath.APIVersion(ep.GVK(name).GroupVersion().String())] = fieldpath.NewExcludeSetFilter(set)
	}
	return filters
}

// converter takes an endpoint's objects from version to version. The storage
// version is the one in the middle.
type converter struct {
	ctx context.Context // of who waits for a conversion
	ep  *endpoint
}

// New makes an empty object of the storage version for the endpoint's kind,
// and for others what the scheme has.
func (c converter) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	if c.ep.Custom != nil {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		return u, nil
	}
	v := c.ep.Version(gvk.Version)
	if gvk.Kind != c.ep.Kind || gvk.Group != c.ep.Group || v == nil {
		return resource.Scheme().New(gvk)
	}
	obj := v.New()
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj, nil
}

// Default does nothing: defaults are filled in behind the merge.
func (converter) Default(runtime.Object) {}

func (converter) Convert(in, out, context any) error {
	return fmt.Errorf("conversion of %T into %T is not provided for", in, out)
}

func (converter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (c converter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	from := in.GetObjectKind().GroupVersionKind()
	if c.ep.Custom != nil {
		return c.convertCustom(in, target)
	}
	if u, ok := in.(*unstructured.Unstructured); ok {
		typed, err := c.New(from)
		if err != nil {
			return nil, err
		}
		if _, ok := typed.(*unstructured.Unstructured); !ok {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed); err != nil {
				return nil, err
			}
			in = typed
		}
	}
	gv, ok := target.(schema.GroupVersion)
	if !ok {
		return nil, fmt.Errorf("%v is not one version", target)
	}
	to := gv.WithKind(c.ep.Kind)
	if from == to {
		return in, nil
	}
	stored := c.ep.StorageGVK()
	if from != stored {
		v := c.ep.versionOf(from)
		if v == nil || v.ToStorage == nil {
			return nil, runtime.NewNotRegisteredErrForKind("fairlead", from)
		}
		out, err := v.ToStorage(in)
		if err != nil {
			return nil, err
		}
		in = out
	}
	if to != stored {
		v := c.ep.versionOf(to)
		if v == nil || v.FromStorage == nil {
			return nil, runtime.NewNotRegisteredErrForKind("fairlead", to)
		}
		out, err := v.FromStorage(in)
		if err != nil {
			return nil, err
		}
		in = out
	}
	in.GetObjectKind().SetGroupVersionKind(to)
	return in, nil
}

// versionOf is the served version of a kind, nil if it is not one of them.
func (ep *endpoint) versionOf(gvk schema.GroupVersionKind) *resource.Version {
	if gvk.Group != ep.Group || gvk.Kind != ep.Kind {
		return nil
	}
	return ep.Version(gvk.Version)
}
