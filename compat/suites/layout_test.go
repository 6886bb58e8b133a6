//go:build suites

package suites

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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
func layOut(t *testing.T, module, dir string) {
	t.Helper()
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
}

// unpack downloads a module and copies it to a folder.
func unpack(t *testing.T, module, dir string) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(download(t, ".", module))); err != nil {
		t.Fatal(err)
	}
}

// download returns the folder of a module in the module cache. One without a version has that of dir's go.mod.
func download(t *testing.T, dir, module string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", module, err, out)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return m.Dir
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

// exists reports whether the file or folder exists.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// compile builds a package's test program and reports whether it could.
func compile(t *testing.T, dir, pkg, program string) bool {
	t.Helper()
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-w", "-o", program, pkg)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go test -c %s: %v\n%s", pkg, err, out)
		return false
	}
	return true
}
