package builtin_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/internal/resource/builtin"
)

var update = flag.Bool("update", false, "write the table of versions in docs/kinds.md anew")

const kindsPage = "../../../docs/kinds.md"

// TestKindsPage: the page has a row for each kind that is served by default, in order, and tells of the warning for writers
// of kinds without an effect.
func TestKindsPage(t *testing.T) {
	text, err := os.ReadFile(kindsPage)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	acts := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^/`]+)` \\| ([^|]+) \\|$").FindAllStringSubmatch(string(text), -1) {
		got = append(got, row[1])
		acts[row[1]] = row[2]
	}
	for _, r := range builtin.Resources() {
		name := r.GroupResource().String()
		want = append(want, name)
		if warned := strings.Contains(acts[name], "a warning"); r.Inert != "" && !warned {
			t.Errorf("the row of %s has no warning", name)
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("the kinds of the page and of the table differ:\n%s", diff)
	}
}

// TestVersionsPage: the page has a row for each version that is served on request.
func TestVersionsPage(t *testing.T) {
	resources, ends := map[string][]string{}, map[string]string{}
	for _, r := range builtin.All() {
		for _, v := range r.Versions {
			if !v.OnRequest {
				continue
			}
			gv := r.GVK(v.Name).GroupVersion().String()
			resources[gv] = append(resources[gv], "`"+r.Plural+"`")
			if end, ok := v.New().(interface{ APILifecycleRemoved() (major, minor int) }); ok {
				major, minor := end.APILifecycleRemoved()
				if until := fmt.Sprintf("%d.%d", major, minor); !strings.Contains(ends[gv], until) {
					ends[gv] = strings.TrimPrefix(ends[gv]+", "+until, ", ")
				}
			}
		}
	}
	var rows []string
	for gv, names := range resources {
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", gv, strings.Join(names, ", "), ends[gv]))
	}
	slices.Sort(rows)
	text, err := os.ReadFile(kindsPage)
	if err != nil {
		t.Fatal(err)
	}
	const head = "| version | resources | gone in |\n|---|---|---|\n"
	before, rest, ok := strings.Cut(string(text), head)
	if !ok {
		t.Fatal("the page has no table of versions")
	}
	got, after, _ := strings.Cut(rest, "\n\n")
	if want := strings.Join(rows, "\n"); *update {
		if err := os.WriteFile(kindsPage, []byte(before+head+want+"\n\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("write the table by go test ./internal/resource/builtin -run TestVersionsPage -update:\n%s", diff)
	}
}
