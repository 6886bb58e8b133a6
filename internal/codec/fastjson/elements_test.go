package fastjson_test

import (
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"testing"

	"fairlead.dev/internal/codec/fastjson"
)

type tree struct {
	Name string  `json:"name,omitempty"`
	Kids []tree  `json:"kids,omitempty"`
	Refs []*tree `json:"refs,omitempty"`
}

// TestSlices decodes nested slices of one type, long ones, and valid ones after broken ones, by one decoder. No
// element may show up in another slice.
func TestSlices(t *testing.T) {
	wide := tree{Name: "wide"}
	for i := range 1000 {
		kid := tree{Name: fmt.Sprint(i)}
		for j := range i % 4 {
			kid.Kids = append(kid.Kids, tree{Name: fmt.Sprint(i, j), Kids: []tree{{Name: "leaf"}}})
			kid.Refs = append(kid.Refs, &tree{Name: fmt.Sprint(j), Refs: []*tree{nil, {}}})
		}
		wide.Kids = append(wide.Kids, kid)
	}
	sharer := fastjson.NewSharer()
	var kept []*tree
	for range 2 {
		for _, s := range []string{
			`{"kids":[{"name":"a","kids":[{"name":"b"},{"name":1}]}]}`, `{"kids":[{"name":"a"},]}`, `{"kids":[{"name":"a"}`, `{"kids":[{"name":"a"},{"name":"b"}}`,
			`{"refs":[{"name":"a"},{"refs":[{"name":"x"},3]}]}`,
		} {
			if sharer.Unmarshal([]byte(s), new(tree)) {
				t.Errorf("took %s", s)
			}
		}
		for _, in := range []tree{{Kids: []tree{{}, {}, {}}, Refs: []*tree{nil, {}}}, {Kids: []tree{{Name: "only"}}}, wide, {Kids: []tree{{}}}} {
			b, err := stdjson.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			got := new(tree)
			if !sharer.Unmarshal(b, got) || !reflect.DeepEqual(*got, in) {
				t.Errorf("read %+v\nwant %+v", got, in)
			}
			kept = append(kept, got, &in)
		}
	}
	for i := 0; i < len(kept); i += 2 {
		if !reflect.DeepEqual(kept[i], kept[i+1]) {
			t.Errorf("%+v\nhas become %+v", kept[i+1], kept[i])
		}
	}
}
