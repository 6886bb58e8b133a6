package aggregate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource/apiregistration"
)

// Registered is the readiness check autoregister-completion. It fails until the API service of each built-in
// version has been seen available once.
func (s *Services) Registered() error {
	if len(s.unseen()) == 0 {
		return nil
	}
	if err := s.sync(context.Background()); err != nil {
		return err
	}
	if missing := s.unseen(); len(missing) > 0 {
		return fmt.Errorf("missing APIService: %v", missing)
	}
	return nil
}

func (s *Services) unseen() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.mu.unseen))
}

// count determines which built-in versions are registered. Versions that no longer are get removed from the list of
// groups, but are still served. s.mu is held.
func (s *Services) count() {
	changed := false
	for _, gv := range s.builtin {
		name := apiregistration.Name(gv)
		switch k := s.mu.known[name]; {
		case k == nil:
			if _, ok := s.mu.gone[name]; !ok && s.mu.unseen[name] == (schema.GroupVersion{}) {
				s.mu.gone[name], changed = gv, true
			}
		case k.available:
			delete(s.mu.unseen, name)
			fallthrough
		default:
			if _, ok := s.mu.gone[name]; ok {
				delete(s.mu.gone, name)
				changed = true
			}
		}
	}
	if changed {
		s.o.Discovery.Unlist(slices.Collect(maps.Values(s.mu.gone)))
	}
}
