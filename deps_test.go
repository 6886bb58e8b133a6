package fairlead_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestClientDependencies holds what a program gets with the client library: no more modules, and no
// more packages, than with the parts of client-go that do the same. On 2026-11-22 these were 38
// modules and 185 packages, of client-go 47 and 505.
func TestClientDependencies(t *testing.T) {
	modules, packages := dependencies(t, "fairlead.dev/client", "fairlead.dev/informer", "fairlead.dev/workqueue")
	maxModules, maxPackages := dependencies(t, "k8s.io/client-go/kubernetes", "k8s.io/client-go/dynamic",
		"k8s.io/client-go/informers", "k8s.io/client-go/tools/record", "k8s.io/client-go/util/workqueue")
	if modules > maxModules || packages > maxPackages {
		t.Errorf("client, informer and workqueue need %d modules and %d packages, client-go %d and %d", modules, packages, maxModules, maxPackages)
	}
}

// dependencies counts the modules and packages outside the standard library that a program with
// these packages is built from.
func dependencies(t *testing.T, packages ...string) (modules, all int) {
	t.Helper()
	const format = "{{with .Module}}{{.Path}}{{end}}" // empty for the standard library
	out, err := exec.Command("go", append([]string{"list", "-deps", "-f", format}, packages...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range strings.Fields(string(out)) {
		seen[m] = true
		all++
	}
	return len(seen), all
}

// TestDependenciesPage: docs/dependencies.md lists the modules that go.mod requires directly.
func TestDependenciesPage(t *testing.T) {
	page, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| .* \\|$").FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, row[1])
	}
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	var required []string
	for _, m := range file.Require {
		if !m.Indirect {
			required = append(required, m.Path)
		}
	}
	if diff := cmp.Diff(required, listed); diff != "" {
		t.Errorf("modules of go.mod (-) and of the page (+):\n%s", diff)
	}
}

// TestNoTestOnlyModules keeps modules that only tests and other programs need out of this one.
func TestNoTestOnlyModules(t *testing.T) {
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{
		"github.com/anishathalye/porcupine", "go.etcd.io/etcd/etcdctl/v3", "go.etcd.io/etcd/server/v3",
		"k8s.io/cli-runtime", "k8s.io/kubectl", "sigs.k8s.io/controller-runtime",
	} {
		if strings.Contains(string(out), `"`+m+`"`) {
			t.Errorf("go.mod requires %s: its tests belong in e2e", m)
		}
	}
}

// TestModulesAgree holds the modules that .ci/run tests to the versions that this module requires: if one of them requires another
// version of a module that the Kubernetes libraries import, all packages above that are compiled once more.
func TestModulesAgree(t *testing.T) {
	ours := required(t, ".")
	for _, dir := range []string{"cmd/kubectl", "schedulerplugins", "examples/schedulerplugin", "e2e", "clients", "clients/browser"} {
		for module, version := range required(t, dir) {
			if want, shared := ours[module]; shared && version != want {
				t.Errorf("%s requires %s %s, and this module %s: take the newer one in both", dir, module, version, want)
			}
		}
	}
}

// required returns the versions of the modules that the go.mod of a directory requires.
func required(t *testing.T, dir string) map[string]string {
	t.Helper()
	out, err := exec.Command("go", "-C", dir, "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, r := range mod.Require {
		versions[r.Path] = r.Version
	}
	return versions
}
