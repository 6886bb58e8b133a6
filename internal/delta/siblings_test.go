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

// TestSiblings checks that texts are held as differences to another one of their template, also if the keys of several
// templates look alike: at first to one of another template, and later to one of their own. A text without a similar one
// is not.
func TestSiblings(t *testing.T) {
	var s delta.Siblings[int]
	bases := map[int][]byte{}
	templates := []string{"web", "db-1", "db-2"}
	held, whole := 0, 0
	for n := range 300 {
		key, text := sibling(templates[n%3], n)
		d, base, ok := s.Find(key, text)
		if !ok {
			bases[n] = text
			s.Add(key, text, n)
			continue
		}
		if got, err := delta.Apply(bases[base], d); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("text %d is %.100q, want %.100q: %v", n, got, text, err)
		}
		if n >= 150 && base%3 != n%3 {
			t.Fatalf("text %d of %s has a base of %s", n, templates[n%3], templates[base%3])
		}
		held, whole = held+len(d), whole+len(text)
	}
	if len(bases) != 3 {
		t.Errorf("%d bases, want one of each template", len(bases))
	}
	if held > whole/6 {
		t.Errorf("%d bytes hold %d, want a sixth at most", held, whole)
	}
	if _, _, ok := s.Find("/registry/pods/default/web-2", bytes.Repeat([]byte("0123456789abcdef~"), 40)); ok {
		t.Error("a text that is like no other one has a base")
	}
	if _, _, ok := s.Find("/registry/pods/default/web-3", []byte(`{"kind":"Pod"}`)); ok {
		t.Error("a short text has a base")
	}
}

// TestSiblingsAreBounded checks that texts that are all different find no base, and that later siblings still do.
func TestSiblingsAreBounded(t *testing.T) {
	var s delta.Siblings[int]
	for n := range 5000 {
		text := bytes.Repeat(fmt.Appendf(nil, "%x", n*n*7919), 2000)
		key := fmt.Sprintf("/registry/maps/n%d/other", n)
		if _, _, ok := s.Find(key, text); ok {
			t.Fatalf("text %d has a base", n)
		}
		s.Add(key, text, n)
	}
	key, text := sibling("web", 1)
	s.Add(key, text, 1)
	key, text = sibling("web", 2)
	if _, base, ok := s.Find(key, text); !ok || base != 1 {
		t.Errorf("the base is %d (%v), want 1", base, ok)
	}
}

func BenchmarkFindSibling(b *testing.B) {
	var s delta.Siblings[int]
	key, text := sibling("web", 1)
	s.Add(key, text, 1)
	key, text = sibling("web", 2)
	for b.Loop() {
		s.Find(key, text)
	}
	b.SetBytes(int64(len(text)))
}
