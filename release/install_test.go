package release_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// releases serves dist at the paths of GitHub's releases. spoil may change a file on the way.
func releases(t *testing.T, spoil func(name string, text []byte) []byte) string {
	t.Helper()
	tag := "v" + version(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := strings.CutPrefix(r.URL.Path, "/latest/download/")
		if !ok {
			name, ok = strings.CutPrefix(r.URL.Path, "/download/"+tag+"/")
		}
		text, err := os.ReadFile(filepath.Join(dist, filepath.Base(name)))
		if !ok || err != nil {
			http.NotFound(w, r)
			return
		}
		if spoil != nil {
			text = spoil(name, text)
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// install runs the installer with further environment variables, and returns its output.
func install(dir string, env ...string) (string, error) {
	cmd := exec.Command("sh", "../dist-files/install.sh")
	cmd.Env = append(append(os.Environ(), "FAIRLEAD_INSTALL_DIR="+dir), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestInstall installs the latest release, then a version over it.
func TestInstall(t *testing.T) {
	from := "FAIRLEAD_RELEASES=" + releases(t, nil)
	dir := filepath.Join(t.TempDir(), "bin")
	for _, choice := range []string{"FAIRLEAD_VERSION=", "FAIRLEAD_VERSION=v" + version(t), "FAIRLEAD_VERSION=" + version(t)} {
		out, err := install(dir, from, choice)
		if err != nil || !strings.Contains(out, "Installed fairlead v") || !strings.Contains(out, "Add "+dir+" to PATH") {
			t.Errorf("%s: %v\n%s", choice, err, out)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("installed: %v, %v", entries, err)
	}
}

// TestInstallRefused checks that nothing is installed from an archive that was changed, or of a version that does not exist.
func TestInstallRefused(t *testing.T) {
	spoiled := releases(t, func(name string, text []byte) []byte {
		if strings.HasSuffix(name, ".tar.gz") {
			text[len(text)/2] ^= 1
		}
		return text
	})
	for name, c := range map[string]struct{ env, want string }{
		"changed":      {"FAIRLEAD_RELEASES=" + spoiled, "nothing was installed"},
		"not released": {"FAIRLEAD_VERSION=v99.0.0", "cannot download"},
	} {
		dir := filepath.Join(t.TempDir(), "bin")
		out, err := install(dir, "FAIRLEAD_RELEASES="+spoiled, c.env)
		if err == nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if _, err := os.Stat(filepath.Join(dir, "fairlead")); !os.IsNotExist(err) {
			t.Errorf("%s: it was installed, %v", name, err)
		}
	}
}

// TestAction runs the steps of the GitHub action, and uses the control plane that it has started.
func TestAction(t *testing.T) {
	temp := t.TempDir()
	file := func(name string) string { return filepath.Join(temp, name) }
	actions, err := filepath.Abs("../.github/actions/setup-fairlead")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(actions, "setup"))
	cmd.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "GITHUB_ACTION_PATH="+actions, "GITHUB_PATH="+file("path"), "GITHUB_ENV="+file("env"),
		"GITHUB_OUTPUT="+file("output"), "FAIRLEAD_RELEASES="+releases(t, nil), "FAIRLEAD_ARGS=--nodes=2 --listen=127.0.0.1:0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fairlead := filepath.Join(strings.TrimSpace(string(read(t, file("path")))), "fairlead")
	t.Cleanup(func() {
		if out, err := exec.Command(fairlead, "down", "--data-dir", filepath.Join(temp, "fairlead", "data")).CombinedOutput(); err != nil {
			t.Errorf("down: %v\n%s", err, out)
		}
	})
	use := exec.Command(fairlead, "nodes", "scale", "3")
	lines := bufio.NewScanner(strings.NewReader(string(read(t, file("env")))))
	for lines.Scan() {
		use.Env = append(os.Environ(), lines.Text())
	}
	if out, err := use.CombinedOutput(); err != nil || !strings.Contains(string(out), "3 simulated: ") {
		t.Errorf("nodes scale: %v\n%s", err, out)
	}
}
