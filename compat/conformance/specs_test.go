//go:build conformance

package conformance

import (
	"bufio"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"
	"k8s.io/kubernetes/test/conformance/testdata"
)

// marks are the possible marks before a spec.
const marks = "+cnwatpxz"

// readSpecs returns the marks of the specs in a file by name.
func readSpecs(t *testing.T, file string) map[string]byte {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	specs := map[string]byte{}
	for in := bufio.NewScanner(f); in.Scan(); {
		mark, name, ok := strings.Cut(in.Text(), " ")
		switch {
		case mark == "" || mark == "#":
		case !ok || len(mark) != 1 || !strings.Contains(marks, mark) || specs[name] != 0:
			t.Fatalf("%s: %q", file, in.Text())
		default:
			specs[name] = mark[0]
		}
	}
	return specs
}

// TestEverySpecIsListed compares specs.txt with Kubernetes' list of conformance tests.
func TestEverySpecIsListed(t *testing.T) {
	text, err := testdata.GetConformanceTestdataFS().ReadTestFile("test/conformance/testdata/conformance.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct{ Codename string }
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	specs, count := readSpecs(t, "specs.txt"), map[byte]int{}
	for _, one := range all {
		if specs[one.Codename] == 0 {
			t.Errorf("not in specs.txt: %s", one.Codename)
		}
		count[specs[one.Codename]]++
		delete(specs, one.Codename)
	}
	for name := range specs {
		t.Errorf("not a conformance test: %s", name)
	}
	for _, mark := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%c %d", mark, count[mark])
	}
}
