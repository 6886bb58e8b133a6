package release_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// TestImage reads the image layout back: both platforms, the configuration, and a program that runs in a root directory of
// its own.
func TestImage(t *testing.T) {
	index, err := layout.ImageIndexFromPath(filepath.Join(dist, "image"))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	images := map[string]v1.Image{}
	for _, m := range manifest.Manifests {
		if images[m.Platform.String()], err = index.Image(m.Digest); err != nil {
			t.Fatal(err)
		}
	}
	for _, arch := range []string{"amd64", "arm64"} {
		img := images["linux/"+arch]
		if img == nil {
			t.Fatalf("no image for %s in %d", arch, len(images))
		}
		config, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if c := config.Config; config.Architecture != arch || c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/fairlead"}) || !strings.Contains(strings.Join(c.Cmd, " "), "--listen=0.0.0.0:6443") {
			t.Errorf("%s: %+v", arch, config)
		}
		if got, want := imageFiles(t, img)["fairlead"], unpack(t, archiveName(t, "linux_"+arch))["fairlead"]; !slices.Equal(got, want) {
			t.Errorf("%s: the image has another program than the archive", arch)
		}
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "fairlead"), imageFiles(t, images["linux/amd64"])["fairlead"], 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: "/fairlead", Args: []string{"/fairlead", "version"}, Dir: "/", SysProcAttr: &syscall.SysProcAttr{Chroot: root}}
	if os.Geteuid() != 0 { // a user namespace of its own lets it change the root directory
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
	}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "fairlead ") {
		t.Errorf("the program in the image: %v\n%s", err, out)
	}
}

func imageFiles(t *testing.T, img v1.Image) map[string][]byte {
	t.Helper()
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	r, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return untar(t, r)
}
