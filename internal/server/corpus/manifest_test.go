package corpus_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

type tree = map[string]any

// body returns the body of a request from its text.
func (r *run) body(text string) (value any) {
	r.t.Helper()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	name, changes, _ := strings.Cut(text, "\n")
	switch {
	case name == "$last":
		value = clone(r.last)
	case strings.HasPrefix(name, "$"):
		manifest, ok := r.lets[name[1:]]
		if !ok {
			r.t.Fatalf("no manifest is called %s", name)
		}
		value = r.parse(manifest)
	default:
		return r.parse(text)
	}
	for line := range strings.SplitSeq(changes, "\n") {
		if line == "" {
			continue
		}
		m := change.FindStringSubmatch(line)
		if m == nil {
			r.t.Fatalf("not a change: %s", line)
		}
		var err error
		if value, err = set(value, steps(m[1]), r.parse(m[2])); err != nil {
			r.t.Fatalf("%s: %v", line, err)
		}
	}
	return value
}

var change = regexp.MustCompile(`^((?:[\w.-]|\[[^\]]*\])+): (.*)$`)

func (r *run) parse(text string) (v any) {
	r.t.Helper()
	data, err := yaml.YAMLToJSON([]byte(r.expand(text)))
	if err == nil {
		d := json.NewDecoder(strings.NewReader(string(data)))
		d.UseNumber()
		err = d.Decode(&v)
	}
	if err != nil {
		r.t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

func (r *run) expand(s string) string {
	return strings.NewReplacer("$ns", r.ns, "$run", r.run).Replace(s)
}

var step = regexp.MustCompile(`\[([^\]]*)\]|[^.\[]+`)

// steps splits a path: "a.b[0][c.d]" becomes a, b, 0 and c.d.
func steps(path string) (out []string) {
	for _, m := range step.FindAllStringSubmatch(path, -1) {
		if m[1] != "" {
			out = append(out, m[1])
		} else {
			out = append(out, m[0])
		}
	}
	return out
}

// set puts a value at a path and returns the changed tree. A nil value removes.
func set(at any, path []string, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	if i, err := strconv.Atoi(path[0]); err == nil {
		list, _ := at.([]any)
		switch {
		case i > len(list):
			return nil, fmt.Errorf("index %d of %d", i, len(list))
		case i == len(list):
			list = append(list, nil)
		}
		if value == nil && len(path) == 1 {
			return append(list[:i:i], list[i+1:]...), nil
		}
		list[i], err = set(list[i], path[1:], value)
		return list, err
	}
	m, ok := at.(tree)
	if !ok {
		m = tree{}
	}
	if value == nil && len(path) == 1 {
		delete(m, path[0])
		return m, nil
	}
	var err error
	m[path[0]], err = set(m[path[0]], path[1:], value)
	return m, err
}

func clone(v tree) (out tree) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		panic(err)
	}
	return out
}
