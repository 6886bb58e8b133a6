package index

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"

	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/storage"
)

// TestValuesAreFreed checks that an index does not keep the JSON of its objects in memory, once they are held as
// differences to similar ones.
func TestValuesAreFreed(t *testing.T) {
	kind := object.NewKind(object.Kind{Prefix: "/registry/pods/", Namespaced: true})
	text := strings.Repeat("a line of a template, ", 50)
	var siblings object.Siblings
	var all Set
	all.indexes = []*Index{newIndex(selection.Dimension{Label: true, Name: "app"})}
	var values []weak.Pointer[byte]
	for i := range 20 {
		value := fmt.Appendf(nil, `{"kind":"Pod","metadata":{"name":"web-%d","namespace":"a","labels":{"app":"app-%d"}},"spec":{"text":%q}}`, i, i%2, text)
		o, err := object.New(&storage.KeyValue{Key: fmt.Sprintf("/registry/pods/a/web-%d", i), Value: value, ModRevision: storage.Revision(i + 1)}, kind)
		if err != nil {
			t.Fatal(err)
		}
		all.Apply(nil, o)
		if p := object.PackSibling(o, &siblings); p != nil {
			object.SetPacked(o, p)
			values = append(values, weak.Make(&value[0]))
		}
	}
	runtime.GC()
	kept := 0
	for _, v := range values {
		if v.Value() != nil {
			kept++
		}
	}
	if kept > 0 || len(values) < 15 {
		t.Errorf("%d of %d values are still in memory", kept, len(values))
	}
	n := 0
	all.indexes[0].Walk("app-1", "", func(o *object.Object) bool {
		if value, _ := object.LabelOf(o, "app"); value != "app-1" {
			t.Errorf("the index has %s of %q", o.Key(), value)
		}
		n++
		return true
	})
	if n != 10 {
		t.Errorf("the index has %d objects, want 10", n)
	}
}
