package e2e

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	past "fairlead.dev/internal/history"
)

// states reads an object's history, the newest states first.
func (p *process) states(object string) []past.State {
	p.t.Helper()
	r := fairlead(p.t, "history", object, "--kubeconfig", p.Kubeconfig, "--limit=0", "-o", "json")
	if r.code != 0 {
		p.t.Fatalf("fairlead %s: exit %d\n%s", r.line, r.code, r.errs)
	}
	return parse[past.Page](p.t.(*testing.T), r).States
}

// TestObjectHistory follows a ConfigMap through its states, on both stores: it lists, compares and blames
// them, and goes back to them.
func TestObjectHistory(t *testing.T) {
	for name, flags := range map[string]func(t *testing.T) []string{
		"embedded": func(*testing.T) []string { return nil },
		"etcd":     func(t *testing.T) []string { return []string{"--etcd-servers=" + startEtcd(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := up(t, t.TempDir(), append(flags(t), "--nodes=0", "--controllers=")...)
			defer p.stop()
			at := "--kubeconfig=" + p.Kubeconfig
			run := func(args ...string) ran { t.Helper(); return fairlead(t, append(args, at)...) }
			p.kubectl("create", "configmap", "a", "--from-literal=color=red", "--from-literal=size=1")
			p.kubectl("patch", "configmap", "a", "-p", `{"data":{"color":"green"}}`)
			p.kubectlWithInput("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {shape: round}\n", "apply", "--server-side", "-f", "-")

			r := run("history", "cm/a")
			var lines [][]string
			for line := range strings.Lines(r.out) {
				lines = append(lines, strings.Fields(line))
			}
			if r.code != 0 || len(lines) != 4 {
				t.Fatalf("exit %d\n%s%s", r.code, r.out, r.errs)
			}
			for i, want := range []string{
				"WHAT USER MANAGER CAUSE CHANGED", "apply kubernetes-admin kubectl - data.shape", "patch kubernetes-admin kubectl-patch - data.color",
				"create kubernetes-admin kubectl-create - -",
			} {
				if got := strings.Join(lines[i][3:], " "); got != want {
					t.Errorf("line %d: %s, want %s", i, got, want)
				}
			}
			created := lines[3][0]
			if got := run("history", "cm/a", "--limit=1"); strings.Count(got.out, "\n") != 2 || !strings.Contains(got.errs, "--limit=0") {
				t.Errorf("one state: %s%s", got.out, got.errs)
			}

			expect(t, "the last change", run("diff", "cm/a").out, "--- cm/a revision "+lines[2][0], "apply by kubernetes-admin", "\n+  shape: round\n")
			r = run("diff", "cm/a", created, lines[2][0], "-o", "fields")
			expect(t, "two states", r.out, "data.color  red -> green")
			if strings.Contains(r.out, "shape") || strings.Contains(r.out, "managedFields") {
				t.Error(r.out)
			}
			expect(t, "as JSON", run("diff", "cm/a", created, "-o", "json").out, `"path": "data.color"`, `"from": "red"`, `"to": "green"`, `"path": "data.shape"`)
			run("diff", "cm/a", "--at=-24h").fails(t, 1, `configmaps "a"`)
			run("diff", "cm/a", "999999999").fails(t, 1, "does not exist yet")
			run("diff", "cm/a", "1").fails(t, 1)

			blame := map[string]string{}
			for line := range strings.Lines(run("blame", "cm/a").out) {
				margin, text, _ := strings.Cut(strings.TrimSpace(line), "│ ")
				if fields := strings.Fields(margin); len(fields) == 3 {
					blame[strings.TrimSpace(text)] = fields[0] + " " + fields[2]
				}
			}
			for text, want := range map[string]string{
				"color: green": lines[2][0] + " kubernetes-admin", "shape: round": lines[1][0] + " kubernetes-admin",
				`size: "1"`: created + " kubernetes-admin", "name: a": created + " kubernetes-admin",
			} {
				if blame[text] != want {
					t.Errorf("%s: %q, want %q", text, blame[text], want)
				}
			}

			// A preview does not write. Undo takes back the last change, and the undo.
			for _, preview := range []ran{run("undo", "cm/a"), run("undo", "cm/a", "--dry-run")} {
				expect(t, "the preview", preview.out, "\n-  shape: round\n")
			}
			if n := len(p.states("cm/a")); n != 3 {
				t.Errorf("%d states after a preview", n)
			}
			expect(t, "undo", run("undo", "cm/a", "--yes").errs, "its state of revision "+lines[2][0])
			if got := p.kubectl("get", "cm", "a", "-o", "jsonpath={.data}"); got != `{"color":"green","size":"1"}` {
				t.Error(got)
			}
			run("undo", "cm/a", "--yes")
			if got := p.kubectl("get", "cm", "a", "-o", "jsonpath={.data}"); got != `{"color":"green","shape":"round","size":"1"}` {
				t.Error(got)
			}
			if s := p.states("cm/a")[0]; s.Verb != "update" || s.User != "kubernetes-admin" || len(s.Managers) != 1 || s.Managers[0] != "fairlead-undo" {
				t.Errorf("the write of an undo: %+v", s)
			}
			uid := p.kubectl("get", "cm", "a", "-o", "jsonpath={.metadata.uid}")
			run("undo", "cm/a", "--to="+created, "-y")
			if got := p.kubectl("get", "cm", "a", "-o", "jsonpath={.data} {.metadata.uid}"); got != `{"color":"red","size":"1"} `+uid {
				t.Error(got)
			}
			expect(t, "no difference", run("undo", "cm/a", "--to="+created).errs, "is as it was")

			// The server's admission applies.
			p.kubectl("create", "configmap", "fixed", "--from-literal=a=1")
			p.kubectl("patch", "configmap", "fixed", "-p", `{"data":{"a":"2"},"immutable":true}`)
			run("undo", "cm/fixed", "--yes").fails(t, 1, "immutable")

			// A deleted object has a history, and is created again.
			p.kubectl("delete", "configmap", "a")
			if s := p.states("cm/a"); s[0].Type != past.Deleted || s[0].Verb != "delete" || s[0].User != "kubernetes-admin" || len(s) != 7 {
				t.Errorf("%+v", s)
			}
			run("blame", "cm/a").fails(t, 1, "was deleted")
			expect(t, "the preview", run("undo", "cm/a").out, "+  color: red")
			run("undo", "cm/a", "--yes")
			if got := p.kubectl("get", "cm", "a", "-o", "jsonpath={.data} {.metadata.uid}"); !strings.HasPrefix(got, `{"color":"red","size":"1"} `) || strings.Contains(got, uid) {
				t.Error(got)
			}
			if s := p.states("cm/a"); len(s) != 8 || s[0].Type != past.Added || s[7].Type != past.Added || s[7].UID != uid {
				t.Errorf("%+v", s)
			}
			run("undo", "cm/a", "--yes").fails(t, 1, "the creation")

			for _, bad := range [][]string{
				{"history"}, {"history", "cm"}, {"history", "cm/a", "b"}, {"history", "cm/a", "-o", "table"}, {"history", "cm/a", "--limit=-1"},
				{"diff", "cm/a", "x"}, {"diff", "cm/a", "1", "2", "3"}, {"diff", "cm/a", "1", "--at=-1m"}, {"diff", "cm/a", "--at=soon"},
				{"blame", "cm/a", "-o", "yaml"}, {"undo", "cm/a", "--to=0"}, {"undo", "cm/a", "--yes", "--dry-run"}, {"undo", "cm/a", "4"},
			} {
				run(bad...).fails(t, 2)
			}
			run("history", "cm/none").fails(t, 1, `configmaps "none" not found`)
			run("history", "wonder/a").fails(t, 1, `no kind "wonder"`)
		})
	}
}

// TestHistoryAfterRestart: the states, their managers and rough times outlive the process; the trace
// does not. A compacted part is reported.
func TestHistoryAfterRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := up(t, dir, "--nodes=0", "--controllers=")
	p.kubectl("create", "configmap", "a", "--from-literal=color=red")
	p.kubectl("patch", "configmap", "a", "-p", `{"data":{"color":"green"}}`)
	p.kubectl("patch", "configmap", "a", "-p", `{"data":{"color":"blue"}}`)
	p.stop()
	p = up(t, dir, "--nodes=0", "--controllers=")
	s := p.states("cm/a")
	if len(s) != 3 || s[0].Recorded || s[0].User != "" || s[0].Time.IsZero() || len(s[0].Managers) != 1 || s[0].Managers[0] != "kubectl-patch" || s[2].Type != past.Added {
		t.Errorf("%+v", s)
	}
	expect(t, "blame by the managers", fairlead(t, "blame", "cm/a", "--kubeconfig", p.Kubeconfig).out, "kubectl-patch  │   color: blue")
	p.stop()
	if r := fairlead(t, "store", "compact", "--data-dir", dir); r.code != 0 {
		t.Fatal(r)
	}
	p = up(t, dir, "--nodes=0", "--controllers=")
	defer p.stop()
	r := fairlead(t, "history", "cm/a", "--kubeconfig", p.Kubeconfig)
	if strings.Count(r.out, "\n") != 2 {
		t.Errorf("after a compaction:\n%s", r.out)
	}
	expect(t, "where the history begins", r.errs, "States before revision", "were compacted")
	expect(t, "blame by managed fields", fairlead(t, "blame", "cm/a", "--kubeconfig", p.Kubeconfig).out, "kubectl-patch │   color: blue")
	fairlead(t, "diff", "cm/a", "--kubeconfig", p.Kubeconfig).fails(t, 1, "is not kept", "were compacted")
	fairlead(t, "undo", "cm/a", "--kubeconfig", p.Kubeconfig).fails(t, 1, "no change by a user", "were compacted")
}

// TestHistoryOfCustomKind: states are in the version that is asked for.
func TestHistoryOfCustomKind(t *testing.T) {
	t.Parallel()
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0", "--controllers=")
	defer p.stop()
	p.kubectlWithInput(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gizmos, singular: gizmo, kind: Gizmo}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, "create", "-f", "-")
	p.kubectlWithInput("apiVersion: example.com/v1\nkind: Gizmo\nmetadata: {name: g}\nspec: {a: 1}\n", "create", "-f", "-")
	p.kubectl("patch", "gizmo", "g", "--type=merge", "-p", `{"spec":{"a":2}}`)
	for version, query := range map[string]string{"example.com/v1": "&version=v1", "example.com/v2": "&version=v2"} {
		page := p.kubectl("get", "--raw", "/debug/history?resource=gizmos.example.com&namespace=default&name=g"+query)
		if strings.Count(page, `"object":{"apiVersion":"`+version+`"`) != 2 {
			t.Errorf("%s: %s", version, page)
		}
	}
	expect(t, "the history", p.fairlead("history", "gizmo/g"), "spec.a")
	p.fairlead("undo", "gizmos.example.com/g", "--yes")
	if got := p.kubectl("get", "gizmo", "g", "-o", "jsonpath={.spec.a}"); got != "1" {
		t.Error(got)
	}
}

// TestHistoryAtTerminal: lines fit the terminal and have colours, unless they are turned off.
func TestHistoryAtTerminal(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0", "--controllers=")
	defer p.stop()
	p.kubectl("create", "configmap", "a", "--from-literal=color=red")
	p.kubectl("patch", "configmap", "a", "-p", `{"data":{"color":"`+strings.Repeat("green", 60)+`"}}`)
	for _, noColour := range []string{"", "1"} {
		screen, tty := terminal(t)
		cmd := exec.Command(bin.fairlead, "diff", "cm/a", "-o", "fields", "--kubeconfig", p.Kubeconfig)
		cmd.Env = append(os.Environ(), "NO_COLOR="+noColour)
		cmd.Stdout = tty
		err := cmd.Run()
		tty.Close()
		seen, _ := io.ReadAll(screen) // ends with an error when no process has the terminal open
		if err != nil || strings.Contains(string(seen), "\x1b[32m") != (noColour == "") {
			t.Errorf("NO_COLOR=%q: %v %q", noColour, err, seen)
		}
	}
}
