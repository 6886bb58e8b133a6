//go:build suites

package suites

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// suite is a project with the packages whose tests start envtest's control plane.
type suite struct {
	module   string
	packages []string
	// skip are patterns of tests that cannot pass here with any API server, with the reason.
	skip map[string]string
}

var suites = []suite{
	{"sigs.k8s.io/controller-runtime@v0.25.2", []string{
		"./pkg/builder", "./pkg/cache", "./pkg/client", "./pkg/client/apiutil", "./pkg/cluster", "./pkg/controller",
		"./pkg/controller/controllerutil", "./pkg/envtest", "./pkg/envtest/komega", "./pkg/handler", "./pkg/internal/controller",
		"./pkg/internal/recorder", "./pkg/internal/testing/controlplane", "./pkg/manager", "./pkg/manager/internal/integration",
		"./pkg/metrics/filters", "./pkg/reconcile", "./pkg/source", "./pkg/webhook",
	}, map[string]string{"TestApiMachinery|TestLazyRestMapperProvider": "downloads kube-apiserver 1.24 to 1.28"}},
	{"sigs.k8s.io/cluster-api@v1.14.2", []string{
		"./bootstrap/kubeadm/reconcilers/kubeadmconfig", "./controllers/clustercache", "./controllers/crdmigrator",
		"./controlplane/kubeadm/pkg", "./controlplane/kubeadm/reconcilers/kubeadmcontrolplane", "./core/reconcilers/cluster",
		"./core/reconcilers/clusterclass", "./core/reconcilers/clusterresourceset", "./core/reconcilers/extensionconfig",
		"./core/reconcilers/machine", "./core/reconcilers/machinedeployment", "./core/reconcilers/machinehealthcheck",
		"./core/reconcilers/machinepool", "./core/reconcilers/machineset", "./core/reconcilers/topology/cluster",
		"./core/reconcilers/topology/cluster/structuredmerge", "./core/webhooks/admission/test", "./internal/util/ssa/test",
		"./util/controller", "./util/patch/test",
	}, nil},
	{"sigs.k8s.io/cluster-api-operator@v0.29.0", []string{"./internal/controller", "./internal/controller/healthcheck"}, nil},
	{"github.com/open-policy-agent/gatekeeper/v3@v3.23.1", []string{
		"./pkg/controller/config", "./pkg/controller/connectionstatus", "./pkg/controller/export", "./pkg/controller/mutators/core",
		"./pkg/readiness", "./pkg/watch",
	}, nil},
	{"github.com/open-policy-agent/frameworks/constraint@v0.0.0-20260616163050-e1eaa1bf6d62", []string{
		"./pkg/apis/externaldata/v1alpha1", "./pkg/apis/externaldata/v1beta1", "./pkg/apis/templates/v1",
		"./pkg/apis/templates/v1alpha1", "./pkg/apis/templates/v1beta1",
	}, nil},
	{"github.com/open-policy-agent/cert-controller@v0.16.1-0.20260608222807-1c492bc2d223", []string{"./pkg/rotator"}, nil},
}

// result is a run of one package's tests.
type result struct {
	passed bool
	took   time.Duration
	specs  string // of Ginkgo: "311 Passed | 0 Failed"
	tail   string
}

func TestSuites(t *testing.T) {
	ours := assets(t)
	theirs := os.Getenv("ENVTEST_ASSETS")
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "package\tFairlead\ts\tkube-apiserver + etcd\ts\tratio")
	for _, s := range suites {
		dir := layOut(t, s.module)
		name, _, _ := strings.Cut(s.module, "@")
		for _, p := range s.packages {
			t.Run(name+strings.TrimPrefix(p, "."), func(t *testing.T) {
				program := compile(t, dir, p)
				own := run(t, s, dir, p, program, ours)
				line := fmt.Sprintf("%s%s\t%s\t%.1f", name, strings.TrimPrefix(p, "."), own, own.took.Seconds())
				if theirs == "" {
					if !own.passed {
						t.Errorf("fails; whether it fails on kube-apiserver too is not known:\n%s", own.tail)
					}
				} else {
					other := run(t, s, dir, p, program, theirs)
					line += fmt.Sprintf("\t%s\t%.1f\t%.1f", other, other.took.Seconds(), other.took.Seconds()/own.took.Seconds())
					if !own.passed && other.passed {
						t.Errorf("fails on Fairlead alone:\n%s", own.tail)
					}
				}
				fmt.Fprintln(w, line)
				t.Log(line)
			})
		}
	}
	w.Flush()
	fmt.Print("\n", table.String())
}

// String is the cell of the table.
func (r result) String() string {
	switch {
	case r.specs != "":
		return r.specs
	case r.passed:
		return "ok"
	}
	return "FAIL"
}

// assets builds fairlead and makes its folder.
func assets(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "fairlead")
	if out, err := exec.Command("go", "build", "-C", "../..", "-o", bin, "./cmd/fairlead").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	dir := filepath.Join(t.TempDir(), "assets")
	if out, err := exec.Command(bin, "assets", dir).CombinedOutput(); err != nil {
		t.Fatalf("fairlead assets: %v\n%s", err, out)
	}
	return dir
}

// layOut copies a module, whose folder in the module cache is read-only, and the modules that its go.mod replaces by
// folders of its repository. It makes scripts executable, which they are in the repository and not in a module.
func layOut(t *testing.T, module string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repository", "folder", "module") // room for a folder of ../..
	unpack(t, module, dir)
	_, version, _ := strings.Cut(module, "@")
	for module, folder := range replaced(t, dir, version) {
		if target := filepath.Join(dir, folder); !exists(target) {
			unpack(t, module, target)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".sh") {
			return err
		}
		return os.Chmod(path, 0o755)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// unpack downloads a module and copies it to a folder.
func unpack(t *testing.T, module, dir string) {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", module, err, out)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(m.Dir)); err != nil {
		t.Fatal(err)
	}
}

// replaced returns the folders by which the go.mod of dir replaces modules. A module has the version that go.mod
// requires, or for the placeholder v0.0.0-00010101000000-000000000000 the version of the project.
func replaced(t *testing.T, dir, project string) map[string]string {
	t.Helper()
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go mod edit: %v", err)
	}
	type version struct{ Path, Version string }
	var mod struct {
		Require []version
		Replace []struct{ Old, New version }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{}
	for _, r := range mod.Replace {
		for _, need := range mod.Require {
			if r.New.Version == "" && r.Old.Path == need.Path {
				if need.Version == "v0.0.0-00010101000000-000000000000" {
					need.Version = project
				}
				folders[need.Path+"@"+need.Version] = r.New.Path
			}
		}
	}
	return folders
}

// exists reports whether the folder exists.
func exists(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

// compile builds a package's test program.
func compile(t *testing.T, dir, path string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "package.test")
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-o", program, path)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	return program
}

var (
	colours = regexp.MustCompile("\x1b\\[[0-9;]*m")
	specs   = regexp.MustCompile(`\d+ Passed \| \d+ Failed`)
)

// run runs a test program in its package's folder with the assets.
func run(t *testing.T, s suite, dir, path, program, assets string) result {
	t.Helper()
	args := []string{"-test.timeout=20m"}
	if len(s.skip) > 0 {
		args = append(args, "-test.skip="+strings.Join(slices.Sorted(maps.Keys(s.skip)), "|"))
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = filepath.Join(dir, path), append(os.Environ(), "KUBEBUILDER_ASSETS="+assets, "NO_COLOR=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err := cmd.Run()
	r := result{passed: err == nil, took: time.Since(start)}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	text := colours.ReplaceAllString(out.String(), "")
	r.specs = specs.FindString(text)
	r.tail = text[max(0, len(text)-6000):]
	return r
}
