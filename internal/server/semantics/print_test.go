package semantics_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

type tree = map[string]any

func init() { utilruntime.Must(metav1.AddMetaToScheme(scheme.Scheme)) }

// print formats a body.
func (r *run) print(b *block, path, contentType string, data []byte) string {
	if len(data) == 0 {
		return ""
	}
	if _, ok := b.options["raw"]; ok {
		return r.names.plain(string(data))
	}
	v, ok := r.decode(contentType, data)
	if !ok {
		return r.names.plain(string(data))
	}
	if save := b.options["save"]; save != "" {
		name, path, _ := strings.Cut(save, ":")
		r.save(name, v, path)
	}
	_, brief := b.options["brief"]
	return r.show(v, brief, certain(path))
}

// certain reports whether the request determines the revision of its response.
func certain(path string) bool {
	q := path[strings.IndexByte(path+"?", '?'):]
	page := strings.Contains(q, "limit=") && strings.Contains(q, "resourceVersion=") && !strings.Contains(q, "Match=") && !strings.Contains(q, "resourceVersion=0")
	return strings.Contains(q, "Exact") || page
}

func (r *run) save(name string, v tree, path string) {
	var at any = v
	for step := range strings.SplitSeq(path, ".") {
		m, _ := at.(tree)
		at = m[step]
	}
	text := fmt.Sprint(at)
	r.vars[name], r.names.saved[text] = text, name
}

// decode decodes a body in any encoding.
func (r *run) decode(contentType string, data []byte) (tree, bool) {
	if strings.HasPrefix(contentType, "application/vnd.kubernetes.protobuf") {
		return r.decodeProto(data)
	}
	if strings.HasPrefix(contentType, "application/yaml") {
		var err error
		if data, err = yaml.YAMLToJSON(data); err != nil {
			r.t.Error(err)
		}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v tree
	return v, d.Decode(&v) == nil
}

func (r *run) decodeProto(data []byte) (tree, bool) {
	obj, gvk, err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Decode(data, nil, nil)
	if err != nil {
		r.t.Errorf("protobuf: %v", err)
		return nil, false
	}
	text, err := json.Marshal(obj)
	if err != nil {
		r.t.Error(err)
		return nil, false
	}
	v, ok := r.decode("", text)
	if ok {
		v["apiVersion"], v["kind"] = gvk.GroupVersion().String(), gvk.Kind
	}
	return v, ok
}

// show formats an object, a list with an item on each line, or a table with a row on each.
func (r *run) show(v tree, brief, certain bool) string {
	kind, _ := v["kind"].(string)
	items, isList := v["items"].([]any)
	if !isList && strings.HasSuffix(kind, "List") {
		isList = true
	}
	switch {
	case kind == "Table":
		return r.showTable(v, certain)
	case isList:
		out := fmt.Sprintln(v["apiVersion"], kind, r.listMeta(v["metadata"], certain))
		if v["items"] == nil {
			out += "  items: null\n"
		}
		for _, it := range items {
			out += "  " + r.object(it.(tree), brief) + "\n"
		}
		return out
	}
	return r.object(v, brief) + "\n"
}

func (r *run) listMeta(v any, certain bool) string {
	m, _ := v.(tree)
	m = maps.Clone(m)
	if rev, ok := m["resourceVersion"].(string); ok && rev != "" {
		m["resourceVersion"] = r.names.list(rev, certain)
	}
	if c, ok := m["continue"].(string); ok && c != "" {
		m["continue"] = "<token>"
	}
	return r.text(m)
}

var age = regexp.MustCompile(`^(\d+[smhd])+$`)

func (r *run) showTable(v tree, certain bool) string {
	var columns []string
	list, _ := v["columnDefinitions"].([]any)
	for _, c := range list {
		columns = append(columns, fmt.Sprint(c.(tree)["name"]))
	}
	out := fmt.Sprintln(v["apiVersion"], "Table", r.listMeta(v["metadata"], certain), strings.Join(columns, "|"))
	rows, _ := v["rows"].([]any)
	for _, row := range rows {
		cells := row.(tree)["cells"].([]any)
		for i := range cells {
			if s, ok := cells[i].(string); ok && age.MatchString(s) {
				cells[i] = "<age>"
			}
		}
		object := "null"
		if o, ok := row.(tree)["object"].(tree); ok {
			object = r.object(o, true)
		}
		out += "  " + r.text(cells) + " " + object + "\n"
	}
	return out
}

// object formats an object on one line.
func (r *run) object(v tree, brief bool) string {
	m, _ := v["metadata"].(tree)
	if m == nil || v["kind"] == "Status" {
		if m != nil {
			v["metadata"] = json.RawMessage(r.listMeta(m, false))
		}
		return r.text(v)
	}
	delete(m, "managedFields")
	rev, _ := m["resourceVersion"].(string)
	if rev != "" {
		rev = r.names.object(rev)
		m["resourceVersion"] = rev
	}
	if !brief {
		return r.text(v)
	}
	kind, _ := v["kind"].(string)
	name, _ := m["name"].(string)
	words := []string{kind, name, rev}
	labels, _ := m["labels"].(tree)
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		words = append(words, fmt.Sprint(k, "=", labels[k]))
	}
	words = slices.DeleteFunc(words, func(s string) bool { return s == "" })
	return r.names.plain(strings.Join(words, " "))
}

// text returns compact JSON with sorted members.
func (r *run) text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		r.t.Error(err)
	}
	return r.names.plain(strings.TrimRight(b.String(), "\n"))
}
