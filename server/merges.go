package server

import (
	"context"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/util/managedfields"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/endpoint"
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
		ctx = context.Background() // conversion waits for nothing, and the manager is kept
	}
	conv := endpoint.Converter{Context: ctx, Endpoint: ep}
	f, err := ep.NewFieldManager(types, conv, subresource)
	if err == nil && !ep.AsksWebhook {
		m.mu.managers[key] = f
	}
	return f, err
}
