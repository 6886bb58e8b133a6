// Command image makes an OCI image layout of fairlead from the binaries that goreleaser has built, without a daemon.
//
//	image -dist=dist -version=v0.1.0 -out=dist/image
//
// The image has only the program, which is linked statically. It runs `fairlead up` as a user without privileges, with
// its data in /data.
package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is the numeric user and group of the program: that of distroless' "nonroot".
const user = 65532

func main() {
	dist := flag.String("dist", "dist", "folder with goreleaser's artifacts.json")
	version := flag.String("version", "", "version for the image's labels")
	out := flag.String("out", "dist/image", "folder of the image layout, which must not exist")
	flag.Parse()
	if flag.NArg() > 0 || *version == "" {
		fmt.Fprintln(os.Stderr, "image: want -version and no arguments")
		os.Exit(2)
	}
	if err := run(*dist, *version, *out); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(dist, version, out string) error {
	binaries, err := linuxBinaries(dist)
	if err != nil {
		return err
	}
	if _, err := os.Stat(out); err == nil {
		return fmt.Errorf("%s exists already", out)
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range binaries {
		img, err := image(b, version)
		if err != nil {
			return fmt.Errorf("%s: %w", b.Path, err)
		}
		platform := v1.Platform{OS: "linux", Architecture: b.Arch}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	if _, err := layout.Write(out, index); err != nil {
		return err
	}
	digest, err := index.Digest()
	if err == nil {
		_, err = fmt.Println(digest)
	}
	return err
}

// artifact is a line of goreleaser's artifacts.json.
type artifact struct {
	Path string `json:"path"`
	OS   string `json:"goos"`
	Arch string `json:"goarch"`
	Type string `json:"type"`
	Name string `json:"name"`
}

func linuxBinaries(dist string) (binaries []artifact, err error) {
	text, err := os.ReadFile(filepath.Join(dist, "artifacts.json"))
	if err != nil {
		return nil, err
	}
	var all []artifact
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("artifacts.json: %w", err)
	}
	for _, a := range all {
		if a.Type == "Binary" && a.OS == "linux" && a.Name == "fairlead" {
			a.Path = filepath.Join(filepath.Dir(dist), a.Path) // goreleaser's paths are relative to the repository
			binaries = append(binaries, a)
		}
	}
	if len(binaries) == 0 {
		return nil, fmt.Errorf("%s has no binary of fairlead for linux", dist)
	}
	return binaries, nil
}

// image returns the image of one platform.
func image(b artifact, version string) (v1.Image, error) {
	program, err := os.ReadFile(b.Path)
	if err != nil {
		return nil, err
	}
	text, err := files(program)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if img, err = mutate.AppendLayers(img, layer); err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", b.Arch
	config.Config = v1.Config{
		User:         fmt.Sprintf("%d:%d", user, user),
		ExposedPorts: map[string]struct{}{"6443/tcp": {}},
		Env:          []string{"PATH=/", "HOME=/data"},
		Entrypoint:   []string{"/fairlead"},
		Cmd:          []string{"up", "--listen=0.0.0.0:6443", "--data-dir=/data/fairlead"},
		Volumes:      map[string]struct{}{"/data": {}},
		WorkingDir:   "/data",
		Labels: map[string]string{
			"org.opencontainers.image.title":       "fairlead",
			"org.opencontainers.image.description": "The Kubernetes control plane in one binary",
			"org.opencontainers.image.version":     version,
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.url":         "https://fairlead.dev",
		},
	}
	return mutate.ConfigFile(img, config)
}

// files returns a tar archive of the image's files. Its times are fixed, so that equal binaries give equal images.
func files(program []byte) ([]byte, error) {
	var text bytes.Buffer
	w := tar.NewWriter(&text)
	for _, f := range []struct {
		name    string
		mode    int64
		owner   int
		kind    byte
		content []byte
	}{
		{"data/", 0o755, user, tar.TypeDir, nil},
		{"tmp/", 0o1777, 0, tar.TypeDir, nil},
		{"fairlead", 0o755, 0, tar.TypeReg, program},
	} {
		h := &tar.Header{Name: f.name, Mode: f.mode, Uid: f.owner, Gid: f.owner, Typeflag: f.kind, Size: int64(len(f.content)), ModTime: time.Unix(0, 0)}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}
