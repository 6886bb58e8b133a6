package controlplane_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/internal/controlplane"
)

// TestControllersPage: the page has a row for each controller of kube-controller-manager 1.37.2, and --controllers takes it as
// the page tells. All controllers here have a row or are named below the table.
func TestControllersPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/controllers.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("testdata/kube-controller-manager.txt")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	var names, here []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (.*) \\|$").FindAllStringSubmatch(page, -1) {
		name, state := row[1], row[2]
		names = append(names, name)
		part := strings.HasPrefix(state, "a part of ")
		own := strings.Trim(strings.TrimPrefix(state, "a part of "), "`")
		if strings.HasPrefix(state, "missing: ") {
			if err := controlplane.CheckControllers([]string{name}); err == nil {
				t.Errorf("--controllers=%s works", name)
			}
			continue
		}
		if !part {
			here = append(here, own)
		}
		if !slices.Contains(controlplane.ControllerNames(), own) {
			t.Errorf("%s: there is no controller %s", name, own)
		}
		for _, prefix := range []string{"", "-"} {
			err := controlplane.CheckControllers([]string{"*", prefix + name})
			if part != (err != nil) || part && !strings.Contains(err.Error(), "a part of the controller "+own) {
				t.Errorf("--controllers=%s: %v", prefix+name, err)
			}
		}
	}
	if want := strings.Fields(string(list)); !slices.Equal(names, want) {
		t.Errorf("the page has the controllers\n%s\nwant\n%s", strings.Join(names, "\n"), strings.Join(want, "\n"))
	}
	for _, name := range controlplane.ControllerNames() {
		if !slices.Contains(here, name) && !strings.Contains(page, "\n`"+name+"` ") {
			t.Errorf("%s is not on the page", name)
		}
	}
}
