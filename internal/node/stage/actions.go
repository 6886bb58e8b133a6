package stage

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Action is a change of an object, or an event about it. One of the members is set.
type Action struct {
	Event  *Event
	Patch  *Patch
	Delete bool
}

// Patch is a change of an object.
type Patch struct {
	Type        types.PatchType
	Data        []byte
	Subresource string
	As          string // the impersonated user; "" is the node
}

// Actions returns the actions of the stage on an object, in order. A deletion is the last.
func (s *Stage) Actions(o *Object, f Funcs) ([]Action, error) {
	var actions []Action
	for i := range s.steps {
		c := &s.steps[i]
		if c.Event != nil {
			actions = append(actions, Action{Event: c.Event})
		}
		if c.Finalizers != nil {
			if p, err := c.Finalizers.patch(o.meta.GetFinalizers()); err != nil {
				return nil, err
			} else if p != nil {
				actions = append(actions, Action{Patch: p})
			}
		}
		if c.Delete {
			return append(actions, Action{Delete: true}), nil
		}
		if c.Patch != nil {
			p, err := c.patch(o, f)
			if err != nil {
				return nil, fmt.Errorf("stage %s: %w", s.Name, err)
			}
			actions = append(actions, Action{Patch: p})
		}
	}
	return actions, nil
}

func (c *compiled) patch(o *Object, f Funcs) (*Patch, error) {
	text, err := render(c.template, o, f)
	if err != nil {
		return nil, err
	}
	p := &Patch{Data: text, Subresource: c.Patch.Subresource}
	if c.Patch.Impersonation != nil {
		p.As = c.Patch.Impersonation.Username
	}
	switch c.Patch.Type {
	case "json":
		p.Type = types.JSONPatchType
		return p, p.below(c.Patch.Root)
	case "merge":
		p.Type = types.MergePatchType
	default:
		p.Type = types.StrategicMergePatchType
	}
	if root := c.Patch.Root; root != "" {
		p.Data, err = json.Marshal(map[string]json.RawMessage{root: text})
	}
	return p, err
}

// below prefixes the paths of a JSON patch with a member.
func (p *Patch) below(root string) error {
	var ops []map[string]any
	if err := json.Unmarshal(p.Data, &ops); err != nil {
		return fmt.Errorf("a JSON patch is a list of operations: %w", err)
	}
	for _, op := range ops {
		if path, ok := op["path"].(string); ok && root != "" {
			op["path"] = "/" + root + path
		}
	}
	var err error
	p.Data, err = json.Marshal(ops)
	return err
}

// patch returns the patch that sets the finalizers; nil if they are set.
func (f *finalizers) patch(have []string) (*Patch, error) {
	var want []string
	if !f.Empty {
		for _, name := range have {
			if !slices.Contains(f.Remove, value{name}) {
				want = append(want, name)
			}
		}
	}
	for _, v := range f.Add {
		if !slices.Contains(want, v.Value) {
			want = append(want, v.Value)
		}
	}
	if slices.Equal(have, want) {
		return nil, nil
	}
	// A merge patch replaces a list entirely.
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": want}})
	return &Patch{Type: types.MergePatchType, Data: data}, err
}
