package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUIOpen: `fairlead ui --open` prints its link and gives it to the system's opener of links.
func TestUIOpen(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0", "--controllers=")
	defer p.stop()
	dir := t.TempDir()
	opened := filepath.Join(dir, "opened")
	for _, opener := range []string{"xdg-open", "open"} { // Linux, macOS
		script := "#!/bin/sh\nprintf %s \"$1\" >'" + opened + "'\n"
		if err := os.WriteFile(filepath.Join(dir, opener), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	r := fairlead(t, "ui", "--open", "--kubeconfig", p.Kubeconfig)
	link, err := os.ReadFile(opened)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.errs)
	}
	if r.code != 0 || !strings.HasPrefix(string(link), p.Server+"/ui/login#") || r.out != string(link)+"\n" {
		t.Errorf("exit %d: printed %q, opened %q", r.code, r.out, link)
	}

	t.Setenv("PATH", t.TempDir())
	r = fairlead(t, "ui", "--open", "--kubeconfig", p.Kubeconfig)
	if r.code != 1 || !strings.HasPrefix(r.out, p.Server+"/ui/login#") || !strings.Contains(r.errs, "open the link yourself") {
		t.Errorf("without a browser: exit %d: %s%s", r.code, r.out, r.errs)
	}
}
