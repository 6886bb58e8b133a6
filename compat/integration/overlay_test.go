//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const kubernetes = "k8s.io/kubernetes"

// ours are the files of testdata that replace Kubernetes' own, or are new beside them.
var ours = map[string]string{
	"test/integration/fairlead/process.go":             "process.go",
	"test/integration/framework/etcd.go":               "etcd.go",
	"test/integration/framework/controlplane_utils.go": "controlplane_utils.go",
	"test/integration/framework/test_server.go":        "test_server.go",
	"cmd/kube-apiserver/app/testing/testserver.go":     "testserver.go",
	"pkg/scheduler/fairlead.go":                        "scheduler.go",
}

// changes are replacements in Kubernetes' files: each text must be there once.
var changes = map[string][][2]string{
	// The scheduler can let fairlead run in its place,
	"pkg/scheduler/scheduler.go": {
		{"type Scheduler struct {\n", "type Scheduler struct {\n\tfairlead fairleadProcess\n"},
		{"\tsched.applyDefaultHandlers()\n", "\tsched.applyDefaultHandlers()\n\tsched.fairlead.options = options\n"},
		{"func (sched *Scheduler) Run(ctx context.Context) {\n", "func (sched *Scheduler) Run(ctx context.Context) {\n\tif sched.runFairlead(ctx) {\n\t\treturn\n\t}\n"},
	},
	// and a test cannot run its cycles then.
	"pkg/scheduler/schedule_one.go": {
		{"func (sched *Scheduler) ScheduleOne(ctx context.Context) {\n", "func (sched *Scheduler) ScheduleOne(ctx context.Context) {\n\tsched.cyclesElsewhere()\n"},
	},
	"test/integration/util/util.go": {
		// The options of the API server are those that our server has.
		{"\t\"k8s.io/kubernetes/cmd/kube-apiserver/app/options\"\n", ""},
		{"\t\"k8s.io/kubernetes/pkg/controlplane\"\n", ""},
		{"*options.ServerRunOptions", "*framework.ServerRunOptions"},
		{"*controlplane.Config", "*framework.Config"},
		// A test that our scheduler cannot run says so.
		{"\ttCtx.ExpectNoError(err, \"creating scheduler\")\n", "\ttCtx.ExpectNoError(err, \"creating scheduler\")\n\tsched.For(tCtx)\n"},
		{"\t\tt.Fatalf(\"Couldn't create scheduler: %v\", err)\n\t}\n", "\t\tt.Fatalf(\"Couldn't create scheduler: %v\", err)\n\t}\n\ttestCtx.Scheduler.For(t)\n"},
		// Nodes that the scheduler knows, our scheduler must know too.
		{"return sched.Cache.NodeCount() >= nodeCount, nil", "return sched.HasNodes(ctx, nodeCount), nil"},
	},
}

// layOut makes Kubernetes' sources with our changes known to the go command, and returns the arguments of go test for it.
// The folder stays, because the go command caches compiled packages by the path of the sources.
func layOut(t *testing.T) []string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "fairlead-integration")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	module := listed(t)
	// An overlay replaces no files of the module cache, so Kubernetes gets a path outside of it.
	source := filepath.Join(dir, filepath.Base(module))
	if err := os.Symlink(module, source); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	modfile := filepath.Join(dir, "go.mod")
	write(t, modfile, append(read(t, "../go.mod"), fmt.Sprintf("\nreplace %s => %s\n", kubernetes, source)...))
	write(t, filepath.Join(dir, "go.sum"), read(t, "../go.sum"))
	replace := map[string]string{}
	for path, file := range ours {
		full, err := filepath.Abs(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(source, path)] = full
	}
	for path, list := range changes {
		text := string(read(t, filepath.Join(module, path)))
		for _, change := range list {
			if strings.Count(text, change[0]) != 1 {
				t.Fatalf("%s has %d times\n%s", path, strings.Count(text, change[0]), change[0])
			}
			text = strings.Replace(text, change[0], change[1], 1)
		}
		changed := filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		write(t, changed, []byte(text))
		replace[filepath.Join(source, path)] = changed
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), overlay)
	return []string{"-modfile=" + modfile, "-mod=mod", "-overlay=" + filepath.Join(dir, "overlay.json")}
}

// listed returns the folder of Kubernetes' sources in the module cache.
func listed(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", kubernetes).Output()
	if err != nil {
		t.Fatalf("go mod download: %v\n%s", err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	return module.Dir
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// write writes a file whose time stays if its text does.
func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if old, err := os.ReadFile(file); err == nil && string(old) == string(text) {
		return
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
