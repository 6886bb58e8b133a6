package e2e

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// refused runs fairlead and expects the exit code and one line on stderr.
func refused(t *testing.T, code int, args ...string) string {
	t.Helper()
	cmd := exec.Command(bin.fairlead, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != code {
		t.Fatalf("fairlead %s: %v, want exit %d\n%s", strings.Join(args, " "), err, code, &errs)
	}
	return strings.TrimSpace(errs.String())
}

func oneLine(t *testing.T, text string, parts ...string) {
	t.Helper()
	if strings.Count(text, "\n") != 0 {
		t.Errorf("not one line:\n%s", text)
	}
	expect(t, "message", text, parts...)
}

func TestDataDirectoryInUse(t *testing.T) {
	dir := t.TempDir()
	p := up(t, dir)
	oneLine(t, refused(t, 1, "up", "--data-dir", dir, "--listen", "127.0.0.1:0"), dir, "in use")
	p.kubectl("get", "nodes") // the first goes on, and its kubeconfig is its own
	p.stop()
}

func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	oneLine(t, refused(t, 1, "up", "--data-dir", t.TempDir(), "--listen", l.Addr().String()), l.Addr().String(), "taken")
}

func TestForeignDirectory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "thesis.tex")
	if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	oneLine(t, refused(t, 1, "up", "--data-dir", dir, "--listen", "127.0.0.1:0"), dir, "thesis.tex")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(file); len(entries) != 1 || string(b) != "mine" {
		t.Errorf("the directory was touched: %v", entries)
	}
}

// A store whose files are damaged is refused, and left as it is.
func TestCorruptDirectory(t *testing.T) {
	dir := t.TempDir()
	p := up(t, dir)
	p.kubectl("create", "configmap", "kept")
	p.stop()
	damaged := 0
	err := filepath.WalkDir(filepath.Join(dir, "store"), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "MANIFEST") {
			damaged++
			return os.WriteFile(path, []byte("not a manifest"), 0o600)
		}
		return err
	})
	if err != nil || damaged == 0 {
		t.Fatal(damaged, err)
	}
	before := contents(t, dir)
	oneLine(t, refused(t, 1, "up", "--data-dir", dir, "--listen", "127.0.0.1:0"), dir)
	if after := contents(t, dir); after != before {
		t.Errorf("refusing it changed it:\n%s\nbefore:\n%s", after, before)
	}
}

// contents lists all files below dir with the time they were last written.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && !strings.EqualFold(info.Name(), "lock") { // taking a lock touches it
			b.WriteString(path + " " + info.ModTime().String() + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A second start goes on where the first one stopped, and old kubeconfigs work.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	p := up(t, dir)
	p.kubectl("create", "configmap", "kept", "--from-literal=a=b")
	rv := p.kubectl("get", "configmap", "kept", "-o", "jsonpath={.metadata.resourceVersion}")
	info, err := os.Stat(p.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("kubeconfig has mode %o", mode)
	}
	p.stop()
	p = up(t, dir)
	if got := p.kubectl("get", "configmap", "kept", "-o", "jsonpath={.metadata.resourceVersion}"); got != rv {
		t.Errorf("resourceVersion %s became %s", rv, got)
	}
	p.stop()
}

// The user's own kubeconfig is left alone unless asked.
func TestMergeKubeconfig(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", "")
	mine := filepath.Join(home, ".kube", "config")
	p := up(t, t.TempDir(), "--in-memory")
	if _, err := os.Stat(mine); !os.IsNotExist(err) {
		t.Errorf("unasked, %s: %v", mine, err)
	}
	p.stop()
	p = up(t, t.TempDir(), "--in-memory", "--merge-kubeconfig")
	p.Kubeconfig = mine
	expect(t, "contexts", p.kubectl("config", "get-contexts", "-o", "name"), "fairlead")
	expect(t, "nodes", p.kubectl("get", "nodes"), "node-")
	p.stop()
}
