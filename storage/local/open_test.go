package local_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// tree returns every file under dir with its content.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var content []byte
		if !d.IsDir() {
			content, err = os.ReadFile(path)
		}
		fmt.Fprintf(&b, "%s %x\n", path, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// refuses checks that dir does not open, for the reason given in one line, and is unchanged.
func refuses(t *testing.T, dir string, want error) {
	t.Helper()
	before := tree(t, dir)
	s, err := local.Open(dir, local.Options{})
	if err == nil {
		s.Close()
	}
	if !errors.Is(err, want) {
		t.Fatalf("Open: %v, want %v", err, want)
	}
	if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, dir) {
		t.Errorf("the error is not one line that names the directory: %q", text)
	}
	if want == local.ErrCorrupt {
		return // the engine may have noted that it tried
	}
	if after := tree(t, dir); after != before {
		t.Errorf("the directory was changed:\n%s\nbefore:\n%s", after, before)
	}
}

// filled makes a store with something in it.
func filled(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "made", "on the way")
	s := open(t, dir, local.Options{})
	for i := range 100 {
		put(t, s, fmt.Sprint("/", i), strings.Repeat("x", 1000))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func put(t testing.TB, s storage.Store, key, value string) storage.Revision {
	t.Helper()
	res, err := s.Commit(t.Context(), storage.Txn{Then: []storage.Op{{Key: key, Value: []byte(value)}}})
	if err != nil {
		t.Fatal(err)
	}
	return res.Revision
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestInUse(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, local.Options{})
	if _, err := local.Open(dir, local.Options{}); !errors.Is(err, local.ErrInUse) {
		t.Errorf("second Open in one process: %v", err)
	}
	put(t, s, "/a", "the first goes on")
	s.Close()

	cmd, lines := startChild(t, dir)
	if !lines.Scan() {
		t.Fatal("the child said nothing")
	}
	if _, err := local.Open(dir, local.Options{}); !errors.Is(err, local.ErrInUse) {
		t.Errorf("Open beside another process: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	open(t, dir, local.Options{}).Close()
}

func TestForeign(t *testing.T) {
	t.Run("SomethingElse", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "notes.txt"), "mine")
		refuses(t, dir, local.ErrForeign)
	})
	t.Run("Newer", func(t *testing.T) {
		dir := filled(t)
		write(t, filepath.Join(dir, "FAIRLEAD"), "fairlead store, format 2, ready\n")
		refuses(t, dir, local.ErrForeign)
	})
	t.Run("File", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "file")
		write(t, name, "mine")
		if s, err := local.Open(name, local.Options{}); err == nil {
			s.Close()
			t.Error("a file was opened as a directory")
		}
	})
}

func TestCorrupt(t *testing.T) {
	t.Run("Marker", func(t *testing.T) {
		dir := filled(t)
		write(t, filepath.Join(dir, "FAIRLEAD"), "")
		refuses(t, dir, local.ErrCorrupt)
	})
	t.Run("LostLog", func(t *testing.T) {
		dir := filled(t)
		if err := os.RemoveAll(filepath.Join(dir, "log")); err != nil {
			t.Fatal(err)
		}
		refuses(t, dir, local.ErrCorrupt)
	})
	t.Run("LostFiles", func(t *testing.T) {
		dir := filled(t)
		names, _ := filepath.Glob(filepath.Join(dir, "log", "*"))
		for _, name := range names {
			os.Remove(name)
		}
		refuses(t, dir, local.ErrCorrupt)
	})
	t.Run("FlippedManifest", func(t *testing.T) {
		dir := filled(t)
		flip(t, dir, "MANIFEST-*")
		refuses(t, dir, local.ErrCorrupt)
	})
	t.Run("FlippedTable", func(t *testing.T) {
		dir := filled(t)
		flip(t, dir, "*.sst")
		refuses(t, dir, local.ErrCorrupt)
	})
}

// flip changes a bit in the first third of the largest file that matches.
func flip(t *testing.T, dir, pattern string) {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(dir, "log", pattern))
	var largest string
	var content []byte
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > len(content) {
			largest, content = name, b
		}
	}
	if len(content) < 16 {
		t.Fatalf("nothing to flip in %s", names)
	}
	content[len(content)/3] ^= 0x10
	write(t, largest, string(content))
}

// TestUnfinished opens the files that a crash in the middle of creation leaves.
func TestUnfinished(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"Nothing": func(dir string) error { return nil },
		"Temp":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "FAIRLEAD.tmp"), nil, 0o600) },
		"Marker": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "FAIRLEAD"), []byte("fairlead store, format 1, creating\n"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := make(dir); err != nil {
				t.Fatal(err)
			}
			s := open(t, dir, local.Options{})
			put(t, s, "/a", "1")
			s.Close()
			s = open(t, dir, local.Options{})
			defer s.Close()
			if s.Revision() != 2 {
				t.Errorf("revision %d, want 2", s.Revision())
			}
		})
	}
}
