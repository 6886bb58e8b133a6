package scan_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fairlead.dev/internal/server/scan"
)

// random returns the text of a random value, with white space where it is allowed.
func random(r *rand.Rand, depth int) string {
	space := func() string { return []string{"", "", "", " ", "\n\t"}[r.IntN(5)] }
	text := func() string {
		var b strings.Builder
		for range r.IntN(20) {
			b.WriteString([]string{"a", "bc", `\"`, `\\`, "{", "]", ",", ":", "ü", `\u00e9`}[r.IntN(10)])
		}
		return `"` + b.String() + `"`
	}
	kind := r.IntN(8)
	if depth == 0 {
		kind %= 5
	}
	switch kind {
	case 0, 1, 2:
		return text()
	case 3:
		return []string{"1", "-2.5e3", "true", "false", "null"}[r.IntN(5)]
	case 4:
		return []string{"{}", "[]", "{ }", `""`}[r.IntN(4)]
	}
	var parts []string
	for i := range r.IntN(5) {
		v := space() + random(r, depth-1) + space()
		if kind > 5 {
			v = space() + fmt.Sprintf(`"%d`, i) + text()[1:] + space() + ":" + v
		}
		parts = append(parts, v)
	}
	if kind > 5 {
		return "{" + space() + strings.Join(parts, ",") + "}"
	}
	return "[" + space() + strings.Join(parts, ",") + "]"
}

// TestAsTheDecoder splits random texts and compares the pieces with encoding/json's result.
func TestAsTheDecoder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		s := random(r, 4)
		b := []byte(s + ",")
		if end := scan.Value(b, 0); end != len(s) {
			t.Fatalf("%s ends at %d, not %d", s, end, len(s))
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(s), &object) == nil && s[0] == '{' {
			list := scan.Members(nil, []byte(s))
			if len(list) != len(object) {
				t.Fatalf("%s has %d members, not %d", s, len(list), len(object))
			}
			for _, m := range list {
				if want := string(object[m.Name()]); string(m.Value) != strings.TrimSpace(want) {
					t.Fatalf("%s: %q is %s, want %s", s, m.Name(), m.Value, want)
				}
			}
		}
		var items []json.RawMessage
		if json.Unmarshal([]byte(s), &items) == nil && s[0] == '[' {
			list := scan.Items(nil, []byte(s))
			if len(list) != len(items) {
				t.Fatalf("%s has %d items, not %d", s, len(list), len(items))
			}
			for i := range list {
				if string(list[i]) != strings.TrimSpace(string(items[i])) {
					t.Fatalf("%s: item %d is %s, want %s", s, i, list[i], items[i])
				}
			}
		}
	}
}
