package server

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/internal/resource"
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
	if f := m.mu.managers[key]; f != nil && !ep.asksWebhook {
		return f, nil
	}
	if m.mu.managers == nil {
		m.mu.managers = map[mergeKey]*managedfields.FieldManager{}
		m.mu.converters = map[*resource.Resource]managedfields.TypeConverter{}
	}
	types := m.mu.converters[ep.Resource]
	if types == nil {
		var err error
		if types, err = ep.kind.typeConverter(); err != nil {
			return nil, err
		}
		m.mu.converters[ep.Resource] = types
	}
	conv := converter{ctx, ep}
	if !ep.asksWebhook {
		conv.ctx = context.Background() // nobody is waited for
	}
	f, err := ep.kind.newFieldManager(types, conv, subresource)
	if err == nil && !ep.asksWebhook {
		m.mu.managers[key] = f
	}
	return f, err
}

// converter takes an endpoint's objects from version to version. The storage
// version is the one in the middle.
type converter struct {
	ctx context.Context // of who waits for a conversion
	ep  *endpoint
}

// New makes an empty object of a version of the endpoint's kind.
func (c converter) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	return c.ep.kind.newVersion(gvk)
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (c converter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	return c.ep.kind.convert(c.ctx, in, target)
}

// Default does nothing: defaults are filled in behind the merge.
func (converter) Default(runtime.Object) {}

func (converter) Convert(in, out, context any) error {
	return fmt.Errorf("conversion of %T into %T is not provided for", in, out)
}

func (converter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// resetFilters is the resource's Reset for versions.
func (ep *endpoint) resetFilters(subresource string, versions []string) map[fieldpath.APIVersion]fieldpath.Filter {
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
	for _, name := range versions {
		filters[fieldpath.APIVersion(ep.GVK(name).GroupVersion().String())] = fieldpath.NewExcludeSetFilter(set)
	}
	return filters
}
