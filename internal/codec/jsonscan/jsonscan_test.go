package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"fairlead.dev/internal/codec/jsonscan"
)

// random returns the text of a random value, with white space where JSON allows it.
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
		return []string{"{}", "[]", "{ }", "[ ]", `""`}[r.IntN(5)]
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

// agrees splits valid text and compares the pieces with encoding/json's.
func agrees(t *testing.T, text []byte) {
	t.Helper()
	if end := jsonscan.Value(append(bytes.Clone(text), ','), 0); end != len(text) {
		t.Fatalf("%s ends at %d, not %d", text, end, len(text))
	}
	var object map[string]json.RawMessage
	if text[0] == '{' && json.Unmarshal(text, &object) == nil {
		list, names := jsonscan.Members(nil, text), map[string]bool{}
		for _, m := range list {
			if names[m.Name()] {
				return // encoding/json keeps the last of two members of one name
			}
			names[m.Name()] = true
		}
		if len(list) != len(object) {
			t.Fatalf("%s has %d members, not %d", text, len(list), len(object))
		}
		for _, m := range list {
			if want := bytes.TrimSpace(object[m.Name()]); !bytes.Equal(m.Value, want) {
				t.Fatalf("%s: %q is %s, want %s", text, m.Name(), m.Value, want)
			}
			if bytes.IndexByte(m.Quote, '\\') < 0 && !bytes.Equal(jsonscan.Find(text, m.Name()), m.Value) {
				t.Fatalf("%s: Find(%q) = %s", text, m.Name(), jsonscan.Find(text, m.Name()))
			}
		}
	}
	var items []json.RawMessage
	if text[0] == '[' && json.Unmarshal(text, &items) == nil {
		list := jsonscan.Items(nil, text)
		if len(list) != len(items) {
			t.Fatalf("%s has %d items, not %d", text, len(list), len(items))
		}
		for i := range list {
			if want := bytes.TrimSpace(items[i]); !bytes.Equal(list[i], want) {
				t.Fatalf("%s: item %d is %s, want %s", text, i, list[i], want)
			}
		}
	}
	var s string
	if text[0] == '"' && json.Unmarshal(text, &s) == nil && s != jsonscan.Unquote(text) {
		t.Fatalf("%s is %q, want %q", text, jsonscan.Unquote(text), s)
	}
}

// TestAsTheDecoder compares random texts' pieces with encoding/json's.
func TestAsTheDecoder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		agrees(t, []byte(random(r, 4)))
	}
}

// FuzzAnyText feeds text that need not be JSON: no function may panic, and valid text is split as by encoding/json.
func FuzzAnyText(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		text := random(r, 3)
		f.Add([]byte(text))
		f.Add([]byte(text[:r.IntN(len(text))])) // cut short
	}
	for _, broken := range []string{"{", "[", `"`, `"\`, `{"a"`, `{"a":`, `{"a":1,`, `{"a":1 "b":2}`, "[1 2]", "[,]", "{,}", "}", ":", "", `{"a":}`, "[1,"} {
		f.Add([]byte(broken))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for i := range text {
			if end := jsonscan.Value(text, i); end > len(text) || end >= 0 && end <= i {
				t.Fatalf("the value at %d of %q ends at %d", i, text, end)
			}
		}
		for _, m := range jsonscan.Members(nil, text) {
			m.Name()
			m.Is("a")
		}
		jsonscan.Items(nil, text)
		jsonscan.Find(text, "a")
		jsonscan.Unquote(text)
		for w := jsonscan.Walk(text, 0); w.Next(); {
			w.Skip()
		}
		if json.Valid(text) && utf8.Valid(text) { // encoding/json replaces bytes that are not UTF-8
			agrees(t, bytes.TrimSpace(text))
		}
	})
}

// TestBytes compares the functions that examine eight bytes at a time with their definition, at each position.
func TestBytes(t *testing.T) {
	special := func(c byte) bool { return c == '"' || c == '\\' || c < ' ' || c >= 0x80 }
	for name, x := range map[string]struct {
		find func([]byte, int) int
		is   func(byte) bool
	}{
		"Special": {jsonscan.Special, special},
		"Escaped": {jsonscan.Escaped, func(c byte) bool { return special(c) || strings.IndexByte("&<>", c) >= 0 }},
	} {
		for c := range 256 {
			for at := range 20 {
				b := bytes.Repeat([]byte("x"), 20)
				b[at] = byte(c)
				want := len(b)
				if x.is(byte(c)) {
					want = at
				}
				if got := x.find(b, 0); got != want {
					t.Fatalf("%s finds %q at %d, want %d", name, b, got, want)
				}
			}
		}
	}
}
