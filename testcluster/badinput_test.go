package testcluster_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/testcluster"
)

// program writes a shell script, and returns its path.
func program(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "fairlead")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// children returns the IDs of this process's children.
func children(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", "ps -o pid=,args= --ppid $PPID | grep -v 'ps -o'").Output()
	if err != nil && len(out) > 0 {
		t.Fatal(err)
	}
	return string(out)
}

// Whatever is wrong, there is one error that says so, and neither a process nor a file is left.
func TestBadInput(t *testing.T) {
	withoutService := []byte("apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n" +
		"metadata: {name: v}\nwebhooks: [{name: w.example.com, clientConfig: {url: 'https://example.com'}}]\n")
	invalid := definition("Invalid")
	delete(invalid["spec"].(map[string]any), "scope")
	taken := definition("Taken")
	beta := definition("Old")
	beta["apiVersion"] = "apiextensions.k8s.io/v1beta1"
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	values := func(all ...any) testcluster.Objects { return testcluster.Objects{Values: all} }
	paths := func(all ...string) testcluster.Objects { return testcluster.Objects{Paths: all} }
	for _, c := range []struct {
		name string
		o    testcluster.Options
		want string
	}{
		{"a binary that is not there", testcluster.Options{Binary: "/nowhere/fairlead"}, `Options.Binary: exec: "/nowhere/fairlead"`},
		{"a binary that is another program", testcluster.Options{Binary: program(t, "sleep 600 & echo hello; wait")}, `printed "hello\n"`},
		{"a binary that ends", testcluster.Options{Binary: program(t, "echo no such flag >&2; exit 2")}, "no such flag"},
		{"a binary that says nothing", testcluster.Options{Binary: program(t, "exec sleep 600"), Timeout: 10 * time.Millisecond}, "not ready: context deadline exceeded"},
		{"a missing directory", testcluster.Options{CRDs: paths("config/crd/bases")}, "Options.CRDs: stat config/crd/bases: no such file or directory"},
		{"a directory without CRDs", testcluster.Options{CRDs: paths("testdata/webhooks")}, "testdata/webhooks has no CustomResourceDefinition"},
		{"broken YAML", testcluster.Options{CRDs: paths(broken)}, "broken.yaml: "},
		{"a value of another kind", testcluster.Options{CRDs: values(widget("x"))}, `a *unstructured.Unstructured is of the kind "Widget"`},
		{"a value that is no object", testcluster.Options{CRDs: values(7)}, "value 0, a int is no API object"},
		{"no value", testcluster.Options{CRDs: values(nil)}, "value 0, a <nil> is no API object"},
		{"an old version", testcluster.Options{CRDs: values(beta)}, `apiVersion "apiextensions.k8s.io/v1beta1": want apiextensions.k8s.io/v1`},
		{"an invalid CRD", testcluster.Options{CRDs: values(invalid)}, "spec.scope"},
		{"a CRD twice", testcluster.Options{CRDs: values(taken, taken)}, "already exists"},
		{"a webhook without a service", testcluster.Options{Webhooks: values(withoutService)}, `webhook "w.example.com" of ValidatingWebhookConfiguration "v" has no service`},
		{"too few nodes", testcluster.Options{Nodes: -1}, "Options.Nodes is -1"},
		{"nodes and none", testcluster.Options{Nodes: 2, NoNodes: true}, "NoNodes is set"},
		{"controllers and none", testcluster.Options{Controllers: []string{"job"}, NoControllers: true}, "NoControllers is set"},
		{"an unknown controller", testcluster.Options{Controllers: []string{"nonsense"}}, "nonsense"},
		{"an unknown fault", testcluster.Options{Faults: []testcluster.Fault{{Action: "explode"}}}, "explode"},
		{"stages that are none", testcluster.Options{Stages: values(widget("x"))}, "--stages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := isolate(t)
			before := children(t)
			env, err := testcluster.Start(context.Background(), c.o)
			if err == nil {
				env.Stop()
				t.Fatal("no error")
			}
			if !strings.HasPrefix(err.Error(), "testcluster: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want %q", err, c.want)
			}
			if after := children(t); after != before {
				t.Errorf("processes left: %s", after)
			}
			check()
		})
	}
}

// The program comes from a variable, from PATH, or from the module's tools.
func TestBinary(t *testing.T) {
	start := func() error {
		env, err := testcluster.Start(context.Background(), small())
		if err == nil {
			env.Stop()
		}
		return err
	}
	t.Setenv("FAIRLEAD_BINARY", "/nowhere/fairlead")
	if err := start(); err == nil || !strings.Contains(err.Error(), "$FAIRLEAD_BINARY") {
		t.Errorf("by the variable: %v", err)
	}
	t.Setenv("FAIRLEAD_BINARY", "")
	old := os.Getenv("PATH")
	t.Setenv("PATH", filepath.Dir(program(t, "echo from PATH >&2; exit 1"))+":"+old)
	if err := start(); err == nil || !strings.Contains(err.Error(), "from PATH") {
		t.Errorf("by PATH: %v", err)
	}
	t.Setenv("PATH", old)
	if err := start(); err == nil || !strings.Contains(err.Error(), "go install fairlead.dev/cmd/fairlead@latest") {
		t.Errorf("without any: %v", err)
	}
	module := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                   "module x\n\ngo 1.24\n\ntool fairlead.dev/cmd/fairlead\n\nrequire fairlead.dev v0.0.0\n\nreplace fairlead.dev => ./dev\n",
		"dev/go.mod":               "module fairlead.dev\n\ngo 1.24\n",
		"dev/cmd/fairlead/main.go": "package main\n\nimport \"os\"\n\nfunc main() {\n\tos.Stderr.WriteString(\"from go tool\")\n\tos.Exit(1)\n}\n",
	} {
		path := filepath.Join(module, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chdir(module); err != nil {
		t.Fatal(err)
	}
	defer os.Chdir(here)
	if err := start(); err == nil || !strings.Contains(err.Error(), "from go tool") {
		t.Errorf("by go tool: %v", err)
	}
}
