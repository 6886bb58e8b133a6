package fairlead_test

import (
	"os/exec"
	"strings"
	"testing"
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
