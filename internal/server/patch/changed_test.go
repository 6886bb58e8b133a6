package patch_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"fairlead.dev/internal/server/patch"
)

// For any change of a document, removing the changed members from the old text and adding those of the returned
// text must give the new document.
func TestChangedIsWhatTurnsOneIntoTheOther(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		was := object(r, 3)
		is := object(r, 3)
		for k, v := range was {
			if r.IntN(2) == 0 {
				is[k] = v
			}
		}
		before, _ := json.Marshal(was)
		after, _ := json.Marshal(is)
		names, text := patch.Changed(before, after)
		var change map[string]any
		if err := json.Unmarshal(text, &change); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := map[string]any{}
		for k, v := range was {
			if !slices.Contains(names, k) {
				got[k] = v
			}
		}
		for k, v := range change {
			got[k] = v
			if !slices.Contains(names, k) {
				t.Fatalf("%s is in the text and not in the names %q", k, names)
			}
			if reflect.DeepEqual(was[k], v) && mapHas(was, k) {
				t.Fatalf("%s has not changed from %s to %s", k, before, after)
			}
		}
		if !reflect.DeepEqual(normal(t, got), normal(t, is)) {
			t.Fatalf("%s to %s: changed %q, %s", before, after, names, text)
		}
	}
}

func mapHas(m map[string]any, k string) bool { _, ok := m[k]; return ok }

// normal returns v as decoded from its own JSON.
func normal(t *testing.T, v any) (out any) {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
