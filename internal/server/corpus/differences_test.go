package corpus_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var listed = regexp.MustCompile("(?m)^- `([^`]+)`")

// TestDifferencesAreListed checks that docs/differences.md lists exactly the cases where our answer differs from
// kube-apiserver's.
func TestDifferencesAreListed(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range listed.FindAllStringSubmatch(string(doc), -1) {
		if named[m[1]] {
			t.Errorf("docs/differences.md names %q twice", m[1])
		}
		named[m[1]] = true
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, c := range parseScript(t, f).cases {
			name := strings.TrimSuffix(filepath.Base(f), ".txt") + "/" + c.name
			differs := slices.ContainsFunc(c.requests, func(b *block) bool { return b.differs })
			if differs != named[name] {
				t.Errorf("%s: has an answer of ours: %v, is in docs/differences.md: %v", name, differs, named[name])
			}
			delete(named, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		t.Errorf("docs/differences.md names %q, which is no case", name)
	}
}
