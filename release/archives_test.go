package release_test

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestArchives checks that each platform has an archive with its program, texts and completions.
func TestArchives(t *testing.T) {
	for _, platform := range platforms {
		t.Run(platform, func(t *testing.T) {
			files := unpack(t, archiveName(t, platform))
			for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "completions/fairlead.bash", "completions/fairlead.zsh", "completions/fairlead.fish"} {
				if len(files[name]) == 0 {
					t.Errorf("no %s", name)
				}
			}
			checkProgram(t, platform, files)
		})
	}
}

// checkProgram checks that a program is for its platform, and that it is linked statically on Linux.
func checkProgram(t *testing.T, platform string, files map[string][]byte) {
	t.Helper()
	system, arch, _ := strings.Cut(platform, "_")
	switch system {
	case "linux":
		f, err := elf.NewFile(bytes.NewReader(files["fairlead"]))
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[arch]; f.Machine != want {
			t.Errorf("the program is for %v", f.Machine)
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP {
				t.Error("the program needs a dynamic linker")
			}
		}
	case "darwin":
		f, err := macho.NewFile(bytes.NewReader(files["fairlead"]))
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[arch]; f.Cpu != want {
			t.Errorf("the program is for %v", f.Cpu)
		}
	case "windows":
		f, err := pe.NewFile(bytes.NewReader(files["fairlead.exe"]))
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]uint16{"amd64": pe.IMAGE_FILE_MACHINE_AMD64, "arm64": pe.IMAGE_FILE_MACHINE_ARM64}[arch]; f.Machine != want {
			t.Errorf("the program is for %#x", f.Machine)
		}
	}
}

// TestVersion checks that the program of the archive runs, and reports a version that the build has stamped.
func TestVersion(t *testing.T) {
	out, err := exec.Command(program(t), "version", "-o", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Fairlead, Kubernetes, Platform string }
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(v.Fairlead, "v") || !strings.HasPrefix(v.Kubernetes, "v1.") || v.Platform != "linux/amd64" {
		t.Errorf("version: %s", out)
	}
}

// TestModules checks that each platform has a list of the modules that its program is built from.
func TestModules(t *testing.T) {
	for _, platform := range platforms {
		var bom struct {
			BOMFormat  string
			Components []struct{ Name, Version string }
		}
		text := read(t, filepath.Join(dist, "fairlead_"+version(t)+"_"+platform+".cdx.json"))
		if err := json.Unmarshal(text, &bom); err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, c := range bom.Components {
			if c.Name == "k8s.io/api" {
				found = c.Version
			}
		}
		if bom.BOMFormat != "CycloneDX" || found == "" {
			t.Errorf("%s: format %q, %d components, k8s.io/api %q", platform, bom.BOMFormat, len(bom.Components), found)
		}
	}
}

// TestCask checks that Homebrew's description has the checksums of the archives for macOS.
func TestCask(t *testing.T) {
	cask := string(read(t, filepath.Join(dist, "homebrew", "Casks", "fairlead.rb")))
	sums := checksums(t)
	for _, platform := range []string{"darwin_amd64", "darwin_arm64"} {
		if sum := sums[archiveName(t, platform)]; sum == "" || !strings.Contains(cask, sum) {
			t.Errorf("the cask has no checksum %q of %s", sum, platform)
		}
	}
}
