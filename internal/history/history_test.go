package history_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/history"
)

// object reads an object from YAML; nil from an empty text.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o, err := history.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestChanges(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"equal", `{spec: {a: 1, b: [x]}}`, `{spec: {a: 1, b: [x]}}`, ""},
		{"scalars", `{spec: {a: 1, b: x}}`, `{spec: {a: 2, c: q}}`, "spec.a 1>2, spec.b x>, spec.c >q"},
		{"a list of scalars is one field", `{args: [a, b]}`, `{args: [b, a]}`, "args [a b]>[b a]"},
		{"an element that moves", `{cs: [{name: a, i: 1}, {name: b, i: 2}]}`, `{cs: [{name: b, i: 2}, {name: a, i: 3}]}`, "cs[a].i 1>3"},
		{"an element that comes, one that goes", `{cs: [{name: a, i: 1}]}`, `{cs: [{name: b, i: 2}]}`, "cs[a].i 1>, cs[a].name a>, cs[b].i >2, cs[b].name >b"},
		{"a list without a key", `{cs: [{i: 1}, {i: 2}]}`, `{cs: [{i: 1}]}`, "cs [map[i:1] map[i:2]]>[map[i:1]]"},
		{"numbers as keys", `{ports: [{containerPort: 80, p: a}]}`, `{ports: [{containerPort: 80, p: b}]}`, "ports[80].p a>b"},
		{"the first list", `{}`, `{cs: [{name: a}]}`, "cs[a].name >a"},
		{"empty maps and lists", `{}`, `{a: {}, b: []}`, "a >map[], b >[]"},
		{"a map in place of a scalar", `{a: 1}`, `{a: {b: 1}}`, "a 1>map[b:1]"},
		{"metadata of each write", `{metadata: {resourceVersion: "1", managedFields: [], name: a}}`, `{metadata: {resourceVersion: "2", name: a}}`, ""},
		{"keys with dots", `{metadata: {labels: {a.b/c: x}}}`, `{metadata: {labels: {a.b/c: q}}}`, "metadata.labels[a.b/c] x>q"},
		{"a creation", ``, `{kind: A, spec: {x: 1}}`, "kind >A, spec.x >1"},
		{"a deletion", `{kind: A}`, ``, "kind A>"},
	} {
		var got []string
		for _, ch := range history.Changes(object(t, c.from), object(t, c.to)) {
			side := func(v any) string {
				if v == nil {
					return ""
				}
				return fmt.Sprint(v)
			}
			got = append(got, ch.Path.String()+" "+side(ch.From)+">"+side(ch.To))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

const managed = `
metadata:
  managedFields:
  - {manager: maker, operation: Update, time: "2026-01-01T00:00:00Z", fieldsV1: {"f:data": {".": {}, "f:a": {}}, "f:spec": {"f:args": {}}}}
  - {manager: empty, operation: Update, time: "2026-01-02T00:00:00Z", fieldsV1: {"f:data": {}}}
  - {manager: applier, operation: Apply, time: "2026-01-03T00:00:00Z", fieldsV1: {"f:spec": {"f:cs": {"k:{\"name\":\"x\"}": {"f:image": {}}}}}}
data: {a: "1", b: "2"}
spec: {args: [x], cs: [{name: x, image: i}]}
`

func TestOwners(t *testing.T) {
	o := object(t, managed)
	want := map[string]string{
		"data.a": "maker", "data.b": "empty", "spec.args": "maker", "spec.cs[x].image": "applier", "spec.cs[x].name": "",
	}
	for _, c := range history.Changes(nil, o) {
		var names []string
		for _, owner := range history.Owners(o, c.Path) {
			names = append(names, owner.Manager)
		}
		if w, ok := want[c.Path.String()]; ok && strings.Join(names, ",") != w {
			t.Errorf("%s is owned by %q, want %q", c.Path, names, w)
		}
		delete(want, c.Path.String())
	}
	if len(want) > 0 {
		t.Errorf("not fields: %v", want)
	}
	if last := history.LastManaged(nil, o); last.Day() != 3 {
		t.Errorf("last managed at %v", last)
	}
}

// past makes states from lines "revision type user: yaml", the newest first.
func past(t *testing.T, lines ...string) (states []*history.State, objects []map[string]any) {
	t.Helper()
	for _, line := range lines {
		head, text, _ := strings.Cut(line, ": ")
		s := &history.State{UID: "1", Recorded: true, Verb: "update"}
		if _, err := fmt.Sscan(head, &s.Revision, &s.Type, &s.User); err != nil {
			t.Fatal(err)
		}
		states, objects = append(states, s), append(objects, object(t, text))
	}
	return states, objects
}

func TestBlame(t *testing.T) {
	states, objects := past(t,
		"9 MODIFIED bob: {a: 3, m: {x: 1, z: 2}, cs: [{name: c, i: 2}, {name: d, i: 1}], l: [1]}",
		"7 MODIFIED ann: {a: 2, m: {x: 1, z: 2}, cs: [{name: c, i: 1}, {name: d, i: 1}], l: [1]}",
		"5 MODIFIED bob: {a: 1, m: {x: 1}, cs: [{name: c, i: 1}, {name: d, i: 1}], l: [1]}",
		"3 ADDED ann: {a: 1, m: {x: 1}, cs: [{name: c, i: 1}]}",
		"2 DELETED eve: ",
	)
	var b history.Blame
	read := 0
	for i, s := range states {
		read++
		if !b.Add(s, objects[i]) {
			break
		}
	}
	if read != 4 {
		t.Errorf("%d states were read, want 4: the creation ends it", read)
	}
	want := map[string]int64{"a": 9, "m.x": 3, "m.z": 7, "cs[c].i": 9, "cs[c].name": 3, "cs[d].i": 5, "cs[d].name": 5, "l": 5}
	for _, p := range b.Fields() {
		o, ok := b.Of(p)
		if !ok || o.State == nil || o.State.Revision != want[p.String()] {
			t.Errorf("%s: %+v, want revision %d", p, o, want[p.String()])
		}
		delete(want, p.String())
	}
	if len(want) > 0 {
		t.Errorf("without an origin: %v", want)
	}

	// Without the creation, managed fields tell the rest.
	states, objects = past(t, "9 MODIFIED bob: {}", "8 MODIFIED bob: {}")
	objects[0], objects[1] = object(t, managed), object(t, managed)
	objects[1]["data"] = map[string]any{"a": "1", "b": "1"}
	b = history.Blame{}
	for i, s := range states {
		if !b.Add(s, objects[i]) {
			t.Error("all origins are known")
		}
	}
	var got []string
	for _, p := range b.Fields() {
		if o, _ := b.Of(p); o.State != nil {
			got = append(got, fmt.Sprintf("%s %d", p, o.State.Revision))
		} else if o.Owner.Manager != "" {
			got = append(got, fmt.Sprintf("%s %s", p, o.Owner.Manager))
		}
	}
	if !slices.Equal(got, []string{"data.a maker", "data.b 9", "spec.args maker", "spec.cs[x].image applier"}) {
		t.Errorf("%q", got)
	}
}

func TestSearch(t *testing.T) {
	const controller = "system:serviceaccount:kube-system:deployment-controller"
	for _, c := range []struct {
		name, want string
		lines      []string
	}{
		{"the last change", "5", []string{"6 MODIFIED ann: {a: 2}", "5 MODIFIED ann: {a: 1}"}},
		{"not a controller's", "4", []string{"6 MODIFIED " + controller + ": {a: 3}", "5 MODIFIED ann: {a: 2}", "4 ADDED ann: {a: 1}"}},
		{"not the status", "4", []string{"6 MODIFIED ann: {a: 2, status: {x: 1}}", "5 MODIFIED ann: {a: 2}", "4 ADDED ann: {a: 1}"}},
		{"not the server's metadata", "4", []string{"6 MODIFIED ann: {a: 2, metadata: {deletionTimestamp: x}}", "5 MODIFIED ann: {a: 2}", "4 ADDED ann: {a: 1}"}},
		{"a deletion by anyone", "5", []string{"6 DELETED " + controller + ": ", "5 MODIFIED ann: {a: 2}"}},
		{"only the creation", "the creation, revision 5", []string{"6 MODIFIED " + controller + ": {a: 2}", "5 ADDED ann: {a: 1}"}},
		{"an earlier object", "the creation, revision 5", []string{"5 ADDED ann: {a: 1}", "4 DELETED ann: ", "3 ADDED ann: {}"}},
		{"no change", "no change by a user", []string{"6 MODIFIED " + controller + ": {a: 2}", "5 MODIFIED ann: {a: 1}"}},
	} {
		states, objects := past(t, c.lines...)
		var find history.Search
		got := ""
		for i, s := range states {
			found, err := find.Add(s, objects[i])
			if err != nil {
				got = err.Error()
			} else if found {
				got = fmt.Sprint(s.Revision)
			}
			if got != "" {
				break
			}
		}
		if got == "" {
			got = find.End().Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestRestore(t *testing.T) {
	then := `{metadata: {name: a, uid: old, resourceVersion: "1", generation: 1, labels: {x: "1"}, managedFields: [{manager: m}]}, spec: {k: 1}, status: {s: 1}}`
	now := `{metadata: {name: a, uid: new, resourceVersion: "9", generation: 4, labels: {x: "2"}, annotations: {z: "2"}}, spec: {k: 2}, status: {s: 2}}`
	for _, c := range []struct{ current, want string }{
		{now, `{"metadata":{"generation":4,"labels":{"x":"1"},"name":"a","resourceVersion":"9","uid":"new"},"spec":{"k":1},"status":{"s":2}}`},
		{"", `{"metadata":{"labels":{"x":"1"},"name":"a"},"spec":{"k":1}}`},
	} {
		got, err := json.Marshal(history.Restore(object(t, then), object(t, c.current)))
		if err != nil || string(got) != c.want {
			t.Errorf("%s, %v; want %s", got, err, c.want)
		}
	}
}
