//go:build linux

package realnode

import (
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// kit holds the parts of clusters: programs and images, in a folder of the user's cache that
// is named by their versions and a hash of our own source of programs.
type kit struct {
	source     string // the folder of this package
	dir        string
	kubernetes string // versions, as Go modules have them
	containerd string
	coredns    string
}

func (k kit) bin() string { return filepath.Join(k.dir, "bin") }

// A program is built from a package of a module below this package's folder.
type program struct {
	name, module, pkg string
	flags             []string
}

// programs returns the programs that change with their versions only.
func (k kit) programs() []program {
	kubernetes := kubernetesFlags(k.kubernetes)
	containerd := []string{"-tags=no_btrfs,no_devmapper,no_zfs", "-ldflags=-s -w -X github.com/containerd/containerd/v2/version.Version=" + k.containerd}
	plain := []string{"-ldflags=-s -w"}
	return []program{
		{"kubelet", "..", "k8s.io/kubernetes/cmd/kubelet", kubernetes},
		{"kube-proxy", "..", "k8s.io/kubernetes/cmd/kube-proxy", kubernetes},
		{"agnhost", "..", "k8s.io/kubernetes/test/images/agnhost", kubernetes},
		{"nnp", "..", "k8s.io/kubernetes/test/images/nonewprivs", kubernetes},
		{"sample-apiserver", "..", "k8s.io/sample-apiserver", kubernetes},
		{"etcd", "..", "fairlead.dev/compat/cmd/etcd", plain},
		{"pause", "..", "fairlead.dev/compat/realnode/programs/pause", plain},
		{"containerd", "programs/containerd", "github.com/containerd/containerd/v2/cmd/containerd", containerd},
		{"containerd-shim-runc-v2", "programs/containerd", "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2", containerd},
		{"ctr", "programs/containerd", "github.com/containerd/containerd/v2/cmd/ctr", containerd},
		{"coredns", "programs/coredns", ".", plain},
	}
}

// kubernetesFlags are the arguments of `go build` for a program of Kubernetes that prints a version,
// such as v1.37.2.
func kubernetesFlags(version string) []string {
	const versionOf = " -X k8s.io/component-base/version."
	minor := strings.Split(version, ".")[1]
	return []string{"-ldflags=-s -w" + versionOf + "gitVersion=" + version + versionOf + "gitMajor=1" + versionOf + "gitMinor=" + minor}
}

// prepare builds the parts that the cache lacks: minutes for the first time.
func prepare(log Log) (kit, error) {
	var k kit
	source, err := output("", "go", "list", "-f", "{{.Dir}}", "fairlead.dev/compat/realnode")
	if err != nil {
		return k, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return k, err
	}
	k.source = source
	for _, one := range []struct {
		version        *string
		folder, module string
	}{
		{&k.kubernetes, "..", "k8s.io/kubernetes"},
		{&k.containerd, "programs/containerd", "github.com/containerd/containerd/v2"},
		{&k.coredns, "programs/coredns", "github.com/coredns/coredns"},
	} {
		if *one.version, err = output(filepath.Join(source, one.folder), "go", "list", "-m", "-f", "{{.Version}}", one.module); err != nil {
			return k, err
		}
	}
	own, err := k.ownSource()
	if err != nil {
		return k, err
	}
	k.dir = filepath.Join(cache, "fairlead", "realnode", fmt.Sprintf("kubernetes-%s-containerd-%s-coredns-%s-%s", k.kubernetes, k.containerd, k.coredns, own))
	if err := os.MkdirAll(k.bin(), 0o755); err != nil {
		return k, err
	}
	for _, p := range k.programs() {
		if err := k.ensure(p, log); err != nil {
			return k, err
		}
	}
	return k, k.prepareImages(log)
}

// ensure builds a program that the cache lacks.
func (k kit) ensure(p program, log Log) error {
	if _, err := os.Stat(filepath.Join(k.bin(), p.name)); err == nil {
		return nil
	}
	log("building %s", p.name)
	return k.build(p, k.bin())
}

// ownSource is a hash of the files of the folder programs.
func (k kit) ownSource() (string, error) {
	files, err := filepath.Glob(filepath.Join(k.source, "programs", "*", "*"))
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %d\n%s", filepath.Base(file), len(text), text)
	}
	return fmt.Sprintf("%.4x", hash.Sum(nil)), nil
}

// build compiles a program into a folder.
func (k kit) build(p program, dir string) error {
	at := filepath.Join(dir, p.name)
	args := append(append([]string{"build", "-buildvcs=false", "-o", at + ".new"}, p.flags...), p.pkg)
	cmd := exec.Command("go", args...)
	cmd.Dir = filepath.Join(k.source, p.module)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", p.name, err, out)
	}
	return os.Rename(at+".new", at)
}

// buildOwn compiles the programs of this repository's modules, as they are now.
func (k kit) buildOwn(dir string) error {
	for _, p := range []program{
		{"fairlead", "../..", "./cmd/fairlead", nil},
		{"kubectl", "../../cmd/kubectl", ".", nil},
	} {
		if err := k.build(p, dir); err != nil {
			return err
		}
	}
	return nil
}

//go:embed images.go
var imagesSource []byte

//go:embed oci.go
var ociSource []byte

// images is the folder of the images. Its name changes with the code that makes them.
func (k kit) images() string {
	return filepath.Join(k.dir, fmt.Sprintf("images-%.6x", sha256.Sum256(slices.Concat(imagesSource, ociSource))))
}

func (k kit) prepareImages(log Log) error {
	_, err := os.Stat(k.images())
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	making := k.images() + ".new"
	if err := os.RemoveAll(making); err != nil {
		return err
	}
	if err := k.makeImages(making, log); err != nil {
		return err
	}
	return os.Rename(making, k.images())
}

// output runs a command and returns its output, without space around it.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
