package object

import (
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/storage"
)

func podKind() *Kind {
	return NewKind(Kind{Prefix: "/registry/pods/", Namespaced: true, Fields: []Field{{Label: "spec.nodeName", Paths: [][]string{{"spec", "nodeName"}}}}})
}

func pod(t *testing.T, k *Kind, name string, n int) *Object {
	t.Helper()
	value := fmt.Appendf(nil, `{"metadata":{"name":%q,"uid":"u-%s","labels":{"app":"web"}},"spec":{"nodeName":"n%d","text":%q}}`, name, name, n, strings.Repeat("the same ", 100))
	o, err := New(&storage.KeyValue{Key: k.Prefix + "a/" + name, Value: value, ModRevision: 7, Version: 1}, k)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestPackSibling checks that a packed object keeps its attributes, apart from the memory of its value, until it is
// packed again because it was replaced, and that it is read as before all the time.
func TestPackSibling(t *testing.T) {
	k := podKind()
	var siblings Siblings
	base, o, same := pod(t, k, "web-1", 1), pod(t, k, "web-2", 2), pod(t, k, "web-2", 2)
	if PackSibling(base, &siblings) != nil {
		t.Fatal("the first object has a sibling")
	}
	check := func(state string) {
		t.Helper()
		if string(o.AppendJSON(nil)) != string(same.AppendJSON(nil)) || o.Size() != same.Size() || !SameAttributes(o, same) || o.UID() != same.UID() {
			t.Errorf("%s: %s, labels %v, want %s", state, o.AppendJSON(nil), o.Labels(), same.AppendJSON(nil))
		}
	}
	p := PackSibling(o, &siblings)
	if p == nil || len(p.kv.Value) > o.Size()/8 {
		t.Fatalf("%+v is not packed", p)
	}
	SetPacked(o, p)
	check("packed")
	if o.body.Load().attributes == nil || PackSibling(o, &siblings) != nil {
		t.Error("a packed object has no attributes, or is packed again")
	}
	next, size := pod(t, k, "web-2", 3), StoredSize(o)
	var scratch []byte
	SetPacked(o, Pack(o, next, &scratch))
	check("replaced")
	if o.body.Load().attributes != nil || o.attributes.Load() != nil || StoredSize(o) != size || Pack(o, next, &scratch) != nil {
		t.Error("a replaced object keeps its attributes, has another size, or is packed again")
	}
}

// TestAttributesOfPacked checks what selectors read from packed objects whose labels and fields differ from those of the
// base, and that objects with the same keys of labels share the base's.
func TestAttributesOfPacked(t *testing.T) {
	kind := NewKind(Kind{Prefix: "/registry/pods/", Namespaced: true, Fields: []Field{
		{Label: "spec.nodeName", Paths: [][]string{{"spec", "nodeName"}}},
		{Label: "status.phase", Paths: [][]string{{"status", "phase"}}, Zero: "Pending"},
	}})
	long := strings.Repeat("n", 200)
	var siblings Siblings
	var base *Object
	for i, c := range []struct {
		uid, labels, node, phase string
		shares                   bool
	}{
		{"u0", `{"app":"web","tier":"a"}`, "n0", "Running", true}, // the base
		{"u1", `{"app":"web","tier":"a"}`, "n0", "Running", true},
		{"u2", `{"app":"web","tier":"b"}`, "", "", true},
		{"", `{"app":"","tier":"a"}`, long, "Failed", true},
		{"u4", `{"app":"web"}`, "n0", "Running", false},
		{"u5", `{"app":"web","other":"a"}`, "n1", "Running", false},
		{"u6", `{}`, "n0", "Running", false},
	} {
		value := fmt.Appendf(nil, `{"metadata":{"name":"web-%d","uid":%q,"labels":%s},"spec":{"nodeName":%q,"text":%q},"status":{"phase":%q}}`,
			i, c.uid, c.labels, c.node, strings.Repeat("the same ", 200), c.phase)
		kv := &storage.KeyValue{Key: fmt.Sprintf("%sa/web-%d", kind.Prefix, i), Value: value, ModRevision: 7, Version: 1}
		o, err := New(kv, kind)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := New(kv, kind)
		if err != nil {
			t.Fatal(err)
		}
		if p := PackSibling(o, &siblings); p != nil {
			SetPacked(o, p)
		} else if base = whole; i > 0 {
			t.Errorf("%s is not packed", value)
		}
		got, want := o.read(), whole.read()
		if got.uidText() != want.uidText() || !SameAttributes(o, whole) || SameAttributes(o, base) != SameAttributes(whole, base) {
			t.Errorf("%s: packed with %+v", value, got)
		}
		for _, l := range append(want.labels, label{key: "none"}) {
			text, ok := LabelOf(o, l.key)
			if wantText, wantOK := LabelOf(whole, l.key); text != wantText || ok != wantOK || o.Labels().Get(l.key) != wantText || o.Labels().Has(l.key) != wantOK {
				t.Errorf("%s: label %s is %q, %v", value, l.key, text, ok)
			}
		}
		for _, f := range kind.Fields {
			if text, want := o.Fields().Get(f.Label), whole.Fields().Get(f.Label); text != want {
				t.Errorf("%s: field %s is %q", value, f.Label, text)
			}
		}
		if b := o.body.Load().base; b != nil && (b.read().values == got.values) != c.shares {
			t.Errorf("%s: shares the base's attributes: %v, want %v", value, !c.shares, c.shares)
		}
	}
}
