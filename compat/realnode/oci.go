//go:build linux

package realnode

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaConfig   = "application/vnd.oci.image.config.v1+json"
	mediaLayer    = "application/vnd.oci.image.layer.v1.tar"
	nameOfImage   = "io.containerd.image.name"
)

type ociDescriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type ociIndex struct {
	SchemaVersion int             `json:"schemaVersion"`
	MediaType     string          `json:"mediaType"`
	Manifests     []ociDescriptor `json:"manifests"`
}

// find returns the digest of an image by its name, or "".
func (i ociIndex) find(name string) string {
	for _, manifest := range i.Manifests {
		if manifest.Annotations[nameOfImage] == name {
			return manifest.Digest
		}
	}
	return ""
}

// imageConfig is how an image's program is started.
type imageConfig struct {
	User         string              `json:",omitempty"`
	ExposedPorts map[string]struct{} `json:",omitempty"`
	Env          []string
	Entrypoint   []string `json:",omitempty"`
	Cmd          []string `json:",omitempty"`
}

// A layout is a folder of images: OCI's image layout, with uncompressed layers.
type layout struct {
	dir   string
	index ociIndex
}

func newLayout(dir string) (*layout, error) {
	if err := os.MkdirAll(filepath.Join(dir, "blobs", "sha256"), 0o755); err != nil {
		return nil, err
	}
	return &layout{dir, ociIndex{SchemaVersion: 2, MediaType: mediaIndex}}, os.WriteFile(filepath.Join(dir, "oci-layout"), []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644)
}

// blob stores the output of write.
func (l *layout) blob(media string, write func(io.Writer) error) (ociDescriptor, error) {
	file, err := os.CreateTemp(l.dir, "blob")
	if err != nil {
		return ociDescriptor{}, err
	}
	defer os.Remove(file.Name())
	hash := sha256.New()
	err = write(io.MultiWriter(file, hash))
	size, _ := file.Seek(0, io.SeekCurrent)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return ociDescriptor{}, err
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	if err := os.Chmod(file.Name(), 0o644); err != nil {
		return ociDescriptor{}, err
	}
	return ociDescriptor{MediaType: media, Digest: "sha256:" + sum, Size: size}, os.Rename(file.Name(), filepath.Join(l.dir, "blobs", "sha256", sum))
}

func (l *layout) json(media string, value any) (ociDescriptor, error) {
	return l.blob(media, func(w io.Writer) error { return json.NewEncoder(w).Encode(value) })
}

// image stores an image of these layers under its names.
func (l *layout) image(names []string, config imageConfig, layers ...ociDescriptor) error {
	if config.Env == nil {
		config.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	}
	var ids []string
	for _, layer := range layers {
		ids = append(ids, layer.Digest) // a layer is not compressed
	}
	at, err := l.json(mediaConfig, map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": config,
		"rootfs": map[string]any{"type": "layers", "diff_ids": ids},
	})
	if err != nil {
		return err
	}
	manifest, err := l.json(mediaManifest, map[string]any{"schemaVersion": 2, "mediaType": mediaManifest, "config": at, "layers": layers})
	if err != nil {
		return err
	}
	for _, name := range names {
		manifest.Annotations = map[string]string{nameOfImage: name}
		l.index.Manifests = append(l.index.Manifests, manifest)
	}
	return nil
}

// close writes the list of images.
func (l *layout) close() error {
	text, err := json.Marshal(l.index)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.dir, "index.json"), text, 0o644)
}

// An entry of a layer.
type entry struct {
	path string // without a leading slash; with a slash at the end it is a folder
	from string // file outside that has the contents
	text string // or the contents
	link string // or where a symbolic link points
	mode int64  // 0 means 0755 for folders and files with from, 0644 else
}

// files stores a layer of entries, and of the folders that they need.
func (l *layout) files(entries []entry) (ociDescriptor, error) {
	return l.blob(mediaLayer, func(w io.Writer) error {
		out, made := tar.NewWriter(w), map[string]bool{".": true}
		var folder func(string, int64) error
		folder = func(name string, mode int64) error {
			if made[name] {
				return nil
			}
			if err := folder(path.Dir(name), 0o755); err != nil {
				return err
			}
			made[name] = true
			return out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode})
		}
		for _, e := range entries {
			mode := e.mode
			if mode == 0 {
				mode = 0o755
				if e.from == "" && !strings.HasSuffix(e.path, "/") {
					mode = 0o644
				}
			}
			if name, ok := strings.CutSuffix(e.path, "/"); ok {
				if err := folder(name, mode); err != nil {
					return err
				}
				continue
			}
			if err := folder(path.Dir(e.path), 0o755); err != nil {
				return err
			}
			if e.link != "" {
				if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: e.path, Linkname: e.link, Mode: 0o777}); err != nil {
					return err
				}
				continue
			}
			contents := []byte(e.text)
			if e.from != "" {
				var err error
				if contents, err = os.ReadFile(e.from); err != nil {
					return err
				}
			}
			if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.path, Mode: mode, Size: int64(len(contents))}); err != nil {
				return err
			}
			if _, err := io.Copy(out, bytes.NewReader(contents)); err != nil {
				return err
			}
		}
		return out.Close()
	})
}

// folder stores a layer with the content of a folder, but for the names of skip.
func (l *layout) folder(root string, skip func(name string) bool) (ociDescriptor, error) {
	return l.blob(mediaLayer, func(w io.Writer) error {
		out, linked := tar.NewWriter(w), map[uint64]string{}
		err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
			if err != nil || at == root {
				return err
			}
			name, err := filepath.Rel(root, at)
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			if skip(name) || info.Mode()&(fs.ModeSocket|fs.ModeDevice) != 0 {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			target := ""
			if info.Mode()&fs.ModeSymlink != 0 {
				if target, err = os.Readlink(at); err != nil {
					return err
				}
			}
			header, err := tar.FileInfoHeader(info, target)
			if err != nil {
				return err
			}
			header.Name, header.Uname, header.Gname, header.ModTime = name, "", "", time.Time{}
			if d.IsDir() {
				header.Name += "/"
			}
			stat, ok := info.Sys().(*syscall.Stat_t)
			if !ok {
				return fmt.Errorf("%s: no inode", at)
			}
			if info.Mode().IsRegular() && stat.Nlink > 1 {
				if first, ok := linked[stat.Ino]; ok {
					header.Typeflag, header.Linkname, header.Size = tar.TypeLink, first, 0
					return out.WriteHeader(header)
				}
				linked[stat.Ino] = name
			}
			if err := out.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
				return err
			}
			file, err := os.Open(at)
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = io.Copy(out, file)
			return err
		})
		if err != nil {
			return err
		}
		return out.Close()
	})
}
