package write

import (
	"context"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/util/managedfields"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/endpoint"
)

// merges holds the field managers for server-side apply, by resource and version. A field
// manager is made from the kind's schemas at the first apply.
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

// Keep forgets the field managers of resources other than these, which are served now.
func (w *Writer) Keep(resources []*resource.Resource) { w.merges.keep(resources) }

// keep forgets the resources that are no longer served.
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

// manager returns the field manager of the endpoint's version. If a webhook converts versions,
// the field manager is made for one request, and ctx bounds its conversions.
func (m *merges) manager(ctx context.Context, ep *endpoint.Endpoint, subresource string) (*managedfields.FieldManager, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := mergeKey{ep.Resource, ep.ServedVersion.Name, subresource}
	if f := m.mu.managers[key]; f != nil && !ep.AsksWebhook {
		return f, nil
	}
	if m.mu.managers == nil {
		m.mu.managers = map[mergeKey]*managedfields.FieldManager{}
		m.mu.converters = map[*resource.Resource]managedfields.TypeConverter{}
	}
	types := m.mu.converters[ep.Resource]
	if types == nil {
		var err error
		if types, err = ep.TypeConverter(); err != nil {
			return nil, err
		}
		m.mu.converters[ep.Resource] = types
	}
	if !ep.AsksWebhook {
		ctx = context.Background() // conversion does not block, and the manager outlives the request
	}
	conv := endpoint.Converter{Context: ctx, Endpoint: ep}
	f, err := ep.NewFieldManager(types, conv, subresource)
	if err == nil && !ep.AsksWebhook {
		m.mu.managers[key] = f
	}
	return f, err
}
