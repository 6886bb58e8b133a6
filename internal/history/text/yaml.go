package text

import (
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/history"
)

// plain returns an object as YAML without the metadata that each write changes; "" for nil.
func plain(object map[string]any) (string, error) {
	if object == nil {
		return "", nil
	}
	object = runtime.DeepCopyJSON(object)
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
		delete(meta, "resourceVersion")
	}
	out, err := yaml.Marshal(object)
	return string(out), err
}

// line is a line of an object's YAML, and the field that it belongs to.
type line struct {
	text string
	path history.FieldPath
}

// lines returns an object's YAML by lines.
func lines(object map[string]any) ([]line, error) {
	text, err := plain(object)
	if err != nil {
		return nil, err
	}
	var doc yamlnode.Node
	if err := yamlnode.Unmarshal([]byte(text), &doc); err != nil {
		return nil, err
	}
	m := fieldLines{}
	for _, root := range doc.Content {
		m.add(nil, root, object)
	}
	var out []line
	var last history.FieldPath
	for n, t := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if p, ok := m[n+1]; ok {
			last = p
		}
		out = append(out, line{t, last})
	}
	return out, nil
}

// fieldLines has the field that begins on a line, by the line's number from 1.
type fieldLines map[int]history.FieldPath

// add adds the fields of a node, which is the YAML of value.
func (m fieldLines) add(p history.FieldPath, node *yamlnode.Node, value any) {
	switch v := value.(type) {
	case map[string]any:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			at := p.Field(key.Value)
			m[key.Line] = at
			m.add(at, node.Content[i+1], v[key.Value])
		}
	case []any:
		steps := history.Elements(v)
		for i, element := range node.Content {
			if steps == nil {
				m[element.Line] = p
				continue
			}
			m.add(p.Element(steps[i]), element, v[i])
		}
	}
}
