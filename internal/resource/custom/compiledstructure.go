package custom

import (
	"time"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
)

// compiledStructure is a structural schema compiled for most objects: those without unknown members, nulls and embedded objects.
// Such an object needs no pruning, and its defaults are set without visiting the rest.
type compiledStructure struct {
	properties map[string]*compiledStructure
	rest       *compiledStructure // of all other members, or nil
	items      *compiledStructure
	preserves  bool // preserves unknown fields
	embedded   bool // is an object with metadata, which are checked
	scalar     bool // has no children: an object or list here is left to upstream
	nullable   bool
	def        any  // its default, or nil
	fills      bool // there are defaults below
	lists      bool // there are lists that are sets or maps, here or below
	embeds     bool // there are embedded objects, here or below
}

// compileStructure compiles a schema, which must not be modified afterwards. The plan of a nil schema accepts scalars.
func compileStructure(s *structural.Structural) *compiledStructure {
	if s == nil {
		return &compiledStructure{scalar: true}
	}
	p := &compiledStructure{preserves: s.XPreserveUnknownFields, embedded: s.XEmbeddedResource, embeds: s.XEmbeddedResource, nullable: s.Nullable, def: s.Default.Object}
	p.lists = s.XListType != nil && *s.XListType != "atomic"
	if len(s.Properties) > 0 {
		p.properties = make(map[string]*compiledStructure, len(s.Properties))
	}
	for name := range s.Properties {
		prop := s.Properties[name]
		p.properties[name] = p.combine(compileStructure(&prop))
	}
	if s.AdditionalProperties != nil {
		p.rest = p.combine(compileStructure(s.AdditionalProperties.Structural))
	}
	if s.Items != nil {
		p.items = p.combine(compileStructure(s.Items))
	}
	return p
}

func (p *compiledStructure) combine(below *compiledStructure) *compiledStructure {
	p.fills = p.fills || below.fills || below.def != nil
	p.lists, p.embeds = p.lists || below.lists, p.embeds || below.embeds
	return below
}

// isCoerced reports whether coercion is known to leave a value unchanged. In doubt it returns false.
func (p *compiledStructure) isCoerced(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case map[string]any:
		if p.scalar || p.embedded {
			return false
		}
		for name, member := range v {
			if !p.isMemberCoerced(name, member) {
				return false
			}
		}
	case []any:
		if p.scalar {
			return false
		}
		if p.items == nil {
			return p.preserves
		}
		if p.preserves {
			return false
		}
		for _, item := range v {
			if !p.items.isCoerced(item) {
				return false
			}
		}
	}
	return true
}

func (p *compiledStructure) isMemberCoerced(name string, v any) bool {
	below := p.properties[name]
	if below == nil {
		below = p.rest
	}
	if below == nil {
		return p.preserves
	}
	return below.isCoerced(v)
}

// isRootCoerced is fits for a whole object of the kind.
func (p *compiledStructure) isRootCoerced(object map[string]any) bool {
	for name, v := range object {
		switch name {
		case "apiVersion", "kind":
			if _, ok := v.(string); !ok {
				return false
			}
		case "metadata":
			if m, ok := v.(map[string]any); !ok || !isRegularMeta(m) {
				return false
			}
		default:
			if !p.isMemberCoerced(name, v) {
				return false
			}
		}
	}
	return true
}

// setDefaults sets the defaults below.
func (p *compiledStructure) setDefaults(v any) {
	if !p.fills {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for name, below := range p.properties {
			if _, there := v[name]; !there && below.def != nil {
				v[name] = runtime.DeepCopyJSONValue(below.def)
			}
		}
		for name, member := range v {
			if below := p.properties[name]; below != nil {
				v[name] = below.withDefaults(member)
			} else if p.rest != nil {
				v[name] = p.rest.withDefaults(member)
			}
		}
	case []any:
		if p.items != nil {
			for i, item := range v {
				v[i] = p.items.withDefaults(item)
			}
		}
	}
}

// withDefaults returns the value with its defaults, which replace a null that is not allowed.
func (p *compiledStructure) withDefaults(v any) any {
	if v == nil && !p.nullable && p.def != nil {
		v = runtime.DeepCopyJSONValue(p.def)
	}
	p.setDefaults(v)
	return v
}

// isRegularMeta reports whether decoding metadata without managed fields to metav1.ObjectMeta, and encoding them again,
// leaves them unchanged.
func isRegularMeta(meta map[string]any) bool {
	for name, v := range meta {
		switch name {
		case "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion":
			if s, ok := v.(string); !ok || s == "" {
				return false
			}
		case "labels", "annotations":
			m, ok := v.(map[string]any)
			if !ok || len(m) == 0 {
				return false
			}
			for _, v := range m {
				if _, ok := v.(string); !ok {
					return false
				}
			}
		case "finalizers":
			list, ok := v.([]any)
			if !ok || len(list) == 0 {
				return false
			}
			for _, v := range list {
				if _, ok := v.(string); !ok {
					return false
				}
			}
		case "generation":
			if n, ok := v.(int64); !ok || n == 0 {
				return false
			}
		case "deletionGracePeriodSeconds":
			if _, ok := v.(int64); !ok {
				return false
			}
		case "creationTimestamp", "deletionTimestamp":
			s, ok := v.(string)
			if !ok || len(s) != len("2006-01-02T15:04:05Z") {
				return false
			}
			if t, err := time.Parse(time.RFC3339, s); err != nil || t.IsZero() {
				return false
			}
		case "ownerReferences":
			list, ok := v.([]any)
			if !ok || len(list) == 0 {
				return false
			}
			for _, v := range list {
				if !isRegularOwner(v) {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}

func isRegularOwner(v any) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for _, name := range []string{"apiVersion", "kind", "name", "uid"} {
		if _, ok := m[name].(string); !ok {
			return false
		}
	}
	for name, v := range m {
		switch name {
		case "apiVersion", "kind", "name", "uid":
		case "controller", "blockOwnerDeletion":
			if _, ok := v.(bool); !ok {
				return false
			}
		default:
			return false
		}
	}
	return true
}
