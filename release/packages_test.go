package release_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sassoftware/go-rpmutils"
)

// packaged are files that each package installs.
var packaged = []string{
	"/usr/bin/fairlead", "/usr/share/bash-completion/completions/fairlead",
	"/usr/lib/systemd/system/fairlead.service", "/etc/fairlead/fairlead.yaml",
}

// TestDeb checks that the Debian package has the program, which runs.
func TestDeb(t *testing.T) {
	root := t.TempDir()
	for _, arch := range []string{"amd64", "arm64"} {
		name := "fairlead_" + version(t) + "_linux_" + arch + ".deb"
		released(t, name)
		if out, err := exec.Command("dpkg-deb", "-x", filepath.Join(dist, name), filepath.Join(root, arch)).CombinedOutput(); err != nil {
			t.Fatalf("dpkg-deb: %v\n%s", err, out)
		}
		for _, file := range packaged {
			if info, err := os.Stat(filepath.Join(root, arch, file)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if out, err := exec.Command(filepath.Join(root, "amd64", "usr/bin/fairlead"), "version").CombinedOutput(); err != nil {
		t.Errorf("the packaged program: %v\n%s", err, out)
	}
}

// TestRPM checks the name, the architecture and the files of the RPM packages.
func TestRPM(t *testing.T) {
	for arch, want := range map[string]string{"amd64": "x86_64", "arm64": "aarch64"} {
		p, err := rpmutils.ReadRpm(bytes.NewReader(released(t, "fairlead_"+version(t)+"_linux_"+arch+".rpm")))
		if err != nil {
			t.Fatal(err)
		}
		name, err := p.Header.GetNEVRA()
		if err != nil || name.Name != "fairlead" || name.Arch != want {
			t.Errorf("package %v, %v, want fairlead for %s", name, err, want)
		}
		infos, err := p.Header.GetFiles()
		if err != nil {
			t.Fatal(err)
		}
		var files []string
		for _, f := range infos {
			files = append(files, f.Name())
		}
		for _, file := range packaged {
			if !slices.Contains(files, file) {
				t.Errorf("%s: no %s in %q", arch, file, files)
			}
		}
	}
}
