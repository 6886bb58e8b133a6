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
