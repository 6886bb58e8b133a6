package release_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dist is the folder that goreleaser has written.
const dist = "../dist"

// platforms are those of a release.
var platforms = []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64", "windows_arm64"}

// version returns the version of the release in dist.
func version(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dist, "metadata.json"))
	if err != nil {
		t.Fatalf("%v: run make release", err)
	}
	var metadata struct{ Version string }
	if err := json.Unmarshal(text, &metadata); err != nil || metadata.Version == "" {
		t.Fatalf("metadata.json: %v, version %q", err, metadata.Version)
	}
	return metadata.Version
}

// checksums returns the SHA-256 checksums by file name.
func checksums(t *testing.T) map[string]string {
	t.Helper()
	sums := map[string]string{}
	for line := range strings.Lines(string(read(t, filepath.Join(dist, "checksums.txt")))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		sums[name] = sum
	}
	return sums
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// released returns a file of the release, whose checksum it checks.
func released(t *testing.T, name string) []byte {
	t.Helper()
	text := read(t, filepath.Join(dist, name))
	sum := sha256.Sum256(text)
	if want := checksums(t)[name]; hex.EncodeToString(sum[:]) != want {
		t.Errorf("%s has the checksum %x, in checksums.txt it is %q", name, sum, want)
	}
	return text
}

// unpack returns the files of an archive by name.
func unpack(t *testing.T, name string) map[string][]byte {
	t.Helper()
	text := released(t, name)
	if strings.HasSuffix(name, ".zip") {
		return unzip(t, text)
	}
	plain, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return untar(t, plain)
}

func untar(t *testing.T, r io.Reader) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if err == io.EOF {
			return files
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			files[h.Name], err = io.ReadAll(archive)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func unzip(t *testing.T, text []byte) map[string][]byte {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	return files
}

// archiveName returns the name of the archive of a platform.
func archiveName(t *testing.T, platform string) string {
	suffix := ".tar.gz"
	if strings.HasPrefix(platform, "windows") {
		suffix = ".zip"
	}
	return "fairlead_" + version(t) + "_" + platform + suffix
}

// program writes the program of this machine's archive to a temporary file.
func program(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "fairlead")
	if err := os.WriteFile(file, unpack(t, archiveName(t, "linux_amd64"))["fairlead"], 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}
