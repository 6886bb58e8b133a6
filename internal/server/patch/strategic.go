package patch

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/codec/jsonscan"
)

// apimachinery applies strategic patches, and it works on decoded objects. Most patches touch a small part of an
// object, so the other members are not decoded: they are cut out beforehand and put back as text after the merge.

// strategic applies a patch to an object's text. It consumes the patch.
func strategic(text []byte, change map[string]any, schema strategicpatch.LookupPatchMeta) ([]byte, error) {
	part, c, ok := cutOut(text, change, schema)
	if !ok {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &part); err != nil {
			return nil, err
		}
	}
	if err := checkComparisons(part, change); err != nil {
		return nil, err
	}
	part, err := strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(part, change, schema)
	if err != nil {
		return nil, explain(err)
	}
	if !ok {
		return json.Marshal(part)
	}
	return c.putBack(make([]byte, 0, len(text)+256), part)
}

// cut is an object of which a patch touches some members.
type cut struct {
	members []jsonscan.Member
	// touched has the members that the patch names, each with its own cut, or nil if it is taken whole.
	touched map[string]*cut
}

// cutOut returns the decoded members of an object that a patch may look at, and the cut that puts back the others.
// ok is false if the patch may look at the whole object.
func cutOut(text []byte, change map[string]any, schema strategicpatch.LookupPatchMeta) (part map[string]any, c *cut, ok bool) {
	c = &cut{touched: make(map[string]*cut, len(change))}
	for name := range change {
		if !strings.HasPrefix(name, "$") {
			c.touched[name] = nil
			continue
		}
		_, list, about := strings.Cut(name, "/") // the order of a list, or the items to delete from it
		if !about {
			return nil, nil, false
		}
		c.touched[list] = nil
	}
	c.members = jsonscan.Members(make([]jsonscan.Member, 0, 16), text)
	part = make(map[string]any, len(change))
	for i := range c.members {
		m := &c.members[i]
		name := m.Name()
		if _, ok := c.touched[name]; !ok {
			continue
		}
		if below, ok := change[name].(map[string]any); ok && m.Value[0] == '{' {
			if kind, ok := merges(schema, name); ok {
				if inner, how, ok := cutOut(m.Value, below, kind); ok {
					part[name], c.touched[name] = inner, how
					continue
				}
			}
		}
		var v any
		if kjson.UnmarshalCaseSensitivePreserveInts(m.Value, &v) != nil {
			return nil, nil, false
		}
		part[name] = v
	}
	return part, c, true
}

// merges reports whether the patch merges an object's member, by the rules of kind, instead of replacing it.
func merges(schema strategicpatch.LookupPatchMeta, name string) (kind strategicpatch.LookupPatchMeta, ok bool) {
	kind, meta, err := schema.LookupPatchMetadataForStruct(name)
	return kind, err == nil && !slices.Contains(meta.GetPatchStrategies(), "replace")
}

// putBack appends the object with the patched part. New members follow the others, sorted.
func (c *cut) putBack(dst []byte, part map[string]any) ([]byte, error) {
	dst = append(dst, '{')
	begin := len(dst)
	add := func(quote []byte) {
		if len(dst) > begin {
			dst = append(dst, ',')
		}
		dst = append(append(dst, quote...), ':')
	}
	for _, m := range c.members {
		name := m.Name()
		how, touched := c.touched[name]
		if !touched {
			add(m.Quote)
			dst = append(dst, m.Value...)
			continue
		}
		v, there := part[name]
		if !there {
			continue
		}
		delete(part, name)
		add(m.Quote)
		var err error
		if inner, ok := v.(map[string]any); ok && how != nil {
			dst, err = how.putBack(dst, inner)
		} else {
			dst, err = appendValue(dst, v)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(part)) {
		quote, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		add(quote)
		if dst, err = appendValue(dst, part[name]); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func appendValue(dst []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(dst, text...), err
}
