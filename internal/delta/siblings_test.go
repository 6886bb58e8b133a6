package delta_test

import (
	"bytes"
	"fmt"
	"testing"

	"fairlead.dev/internal/delta"
)

// sibling returns one of many pods that were made from the same template.
func sibling(template string, n int) (key string, text []byte) {
	return fmt.Sprintf("/registry/pods/default/%s-7d9c5f-%d", template, n),
		bytes.ReplaceAll(object(fmt.Sprint(n), "Running", 40), []byte("value of"), []byte(template+" of"))
}

// TestSiblings checks that texts are held as differences to the first of their template, also if the keys of several
// templates look alike, and that a text without a similar one is not.
func TestSiblings(t *testing.T) {
	var s delta.Siblings[int]
	texts := map[int][]byte{}
	held, whole := 0, 0
	for n := range 300 {
		key, text := sibling([]string{"web", "db-1", "db-2"}[n%3], n)
		d, base, ok := s.Find(key, text, func() int { texts[n] = text; return n })
		if !ok {
			if _, kept := texts[n]; !kept || n >= 3 {
				t.Fatalf("text %d has no base", n)
			}
			continue
		}
		if got, err := delta.Apply(texts[base], d); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("text %d is %.100q, want %.100q: %v", n, got, text, err)
		}
		held, whole = held+len(d), whole+len(text)
	}
	if held > whole/6 {
		t.Errorf("%d bytes hold %d, want a sixth at most", held, whole)
	}
	if _, _, ok := s.Find("/registry/pods/default/web-2", bytes.Repeat([]byte("0123456789abcdef~"), 40), func() int { return -1 }); ok {
		t.Error("a text that is like no other one has a base")
	}
	if _, _, ok := s.Find("/registry/pods/default/web-3", []byte(`{"kind":"Pod"}`), func() int { return -1 }); ok {
		t.Error("a short text has a base")
	}
}

// TestSiblingsAreBounded checks that texts that are all different find no base, and that later siblings still do.
func TestSiblingsAreBounded(t *testing.T) {
	var s delta.Siblings[int]
	for n := range 5000 {
		text := bytes.Repeat(fmt.Appendf(nil, "%x", n*n*7919), 2000)
		if _, _, ok := s.Find(fmt.Sprintf("/registry/maps/n%d/other", n), text, func() int { return n }); ok {
			t.Fatalf("text %d has a base", n)
		}
	}
	key, text := sibling("web", 1)
	s.Find(key, text, func() int { return 1 })
	key, text = sibling("web", 2)
	if _, base, ok := s.Find(key, text, func() int { return 2 }); !ok || base != 1 {
		t.Errorf("the base is %d (%v), want 1", base, ok)
	}
}

func BenchmarkFindSibling(b *testing.B) {
	var s delta.Siblings[int]
	none := func() int { return 0 }
	key, text := sibling("web", 1)
	s.Find(key, text, none)
	key, text = sibling("web", 2)
	for b.Loop() {
		s.Find(key, text, none)
	}
	b.SetBytes(int64(len(text)))
}
