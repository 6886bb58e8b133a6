package aggregate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource/apiregistration"
)

// Registered is the check autoregister-completion. It fails until the API service of each version that is built in has been seen
// to be available once.
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

// count looks which of the built-in versions are registered, with the lock held. Those
// that are not, after they were, are not listed among the groups any more, and served all
// the same.
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
