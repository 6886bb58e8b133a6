package custom_test

import (
	"fmt"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestSchemaWithoutObjects checks that a kind's schema in the documents does not depend on whether an object has been decoded.
func TestSchemaWithoutObjects(t *testing.T) {
	for i, schema := range sameSchemas {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			c := newSameKind(t, schema).row.Custom
			before := c.Schema("v1")
			if before == nil || len(before.Properties) == 0 {
				t.Fatalf("the schema is %v", before)
			}
			u := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"unknown": 1},
			}}
			if _, err := c.Coerce(u, false); err != nil {
				t.Fatal(err)
			}
			if after := c.Schema("v1"); !reflect.DeepEqual(before, after) {
				t.Errorf("the schema is\n%v\nand after an object\n%v", before, after)
			}
			if other := c.Schema("v2"); other != nil {
				t.Errorf("a version that does not exist has the schema %v", other)
			}
		})
	}
}
