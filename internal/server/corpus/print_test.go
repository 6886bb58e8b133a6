package corpus_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// print formats an answer. base is the object to print the difference from.
func (r *run) print(base tree, body []byte) string {
	var v tree
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return "\n" + strings.TrimSpace(string(body))
	}
	switch kind, _ := v["kind"].(string); {
	case kind == "Status":
		return r.printStatus(body)
	case kind == "Table":
		return r.printTable(v)
	case strings.HasSuffix(kind, "List") && v["metadata"] != nil:
		return r.printList(v)
	default:
		r.last = clone(v)
		if status, ok := v["status"].(tree); ok && status["token"] != nil {
			r.token = fmt.Sprint(status["token"])
		}
		return r.printObject(base, v)
	}
}

func (r *run) printObject(base, v tree) string {
	meta, _ := v["metadata"].(tree)
	if meta == nil {
		meta = tree{}
	}
	key := fmt.Sprint(v["kind"], "/", meta["name"])
	before := r.seen[key]
	whole := clone(v)
	var b strings.Builder
	revision, _ := meta["resourceVersion"].(string)
	if old, _ := before["metadata"].(tree); old != nil && revision == old["resourceVersion"] {
		b.WriteString(", the same revision")
	}
	for _, name := range []string{"resourceVersion", "uid", "creationTimestamp"} {
		if meta[name] == nil {
			b.WriteString(", no " + name)
		}
	}
	if base == nil {
		base = clone(before)
	} else {
		base = clone(base)
	}
	if base == nil {
		base = tree{}
	}
	managed, _ := meta["managedFields"].([]any)
	hide(base)
	hide(v)
	r.diff(&b, "", base, v)
	var lines []string
	for _, m := range managed {
		lines = append(lines, printManaged(m.(tree)))
	}
	slices.Sort(lines)
	for _, l := range lines {
		b.WriteString("\n" + l)
	}
	if revision != "" {
		r.seen[key] = whole
	}
	return b.String()
}

// hide removes fields that the server sets on every object.
func hide(v tree) {
	if meta, ok := v["metadata"].(tree); ok {
		for _, name := range []string{"resourceVersion", "uid", "creationTimestamp", "managedFields"} {
			delete(meta, name)
		}
	}
}

// diff prints the difference between two values, member by member.
func (r *run) diff(b *strings.Builder, path string, old, now any) {
	switch now := now.(type) {
	case tree:
		old, ok := old.(tree)
		if !ok {
			break
		}
		for _, k := range slices.Sorted(maps.Keys(merged(old, now))) {
			at := join(path, k)
			switch {
			case old[k] == nil:
				if v, there := now[k]; there {
					fmt.Fprintf(b, "\n+ %s: %s", at, text(v))
				}
			case now[k] == nil:
				fmt.Fprintf(b, "\n- %s: %s", at, text(old[k]))
			default:
				r.diff(b, at, old[k], now[k])
			}
		}
		return
	case []any:
		old, ok := old.([]any)
		if !ok || len(old) != len(now) {
			break
		}
		for i := range now {
			r.diff(b, fmt.Sprintf("%s[%d]", path, i), old[i], now[i])
		}
		return
	}
	if !reflect.DeepEqual(old, now) {
		fmt.Fprintf(b, "\n~ %s: %s", path, text(now))
	}
}

func merged(a, b tree) tree {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func join(path, key string) string {
	if strings.ContainsAny(key, "./") {
		return path + "[" + key + "]"
	}
	return strings.TrimPrefix(path+"."+key, ".")
}

// text returns compact JSON with sorted members.
func text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimRight(b.String(), "\n")
}

// printList formats the items by name only.
func (r *run) printList(v tree) string {
	out := fmt.Sprintf(" %s", v["kind"])
	items, _ := v["items"].([]any)
	for _, it := range items {
		meta, _ := it.(tree)["metadata"].(tree)
		out += fmt.Sprintf("\n  %v", meta["name"])
	}
	return out
}

var age = regexp.MustCompile(`^(\d+[smhdy])+$|^<invalid>$`)

// ago matches the age of a last restart.
var ago = regexp.MustCompile(`\((\d+[smhdy])+ ago\)`)

// printTable formats the columns with their types, priorities and descriptions, and the cells of each row.
func (r *run) printTable(v tree) string {
	var columns []string
	list, _ := v["columnDefinitions"].([]any)
	for _, c := range list {
		c := c.(tree)
		columns = append(columns, fmt.Sprintf("%v(%v %v %v)", c["name"], c["type"], c["format"], c["priority"]))
	}
	out := " Table\n" + strings.Join(columns, " | ")
	rows, _ := v["rows"].([]any)
	for _, row := range rows {
		cells, _ := row.(tree)["cells"].([]any)
		for i := range cells {
			if s, ok := cells[i].(string); ok && age.MatchString(s) {
				cells[i] = "<age>"
			} else if ok {
				cells[i] = ago.ReplaceAllString(s, "(<age> ago)")
			}
		}
		out += "\n" + text(cells)
	}
	return out
}
