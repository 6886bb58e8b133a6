package reload_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/internal/reload"
)

// TestWatcher changes a file in each of the ways in which tools do.
func TestWatcher(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	write(path, "one")
	w := reload.New(path)
	write(path, "two") // before Run, and after New

	loads := make(chan string, 100) // the contents, or errors, in order; a file may be seen half written
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Run(ctx, func() error {
			content, err := os.ReadFile(path)
			if err == nil && string(content) == "broken" {
				err = errors.New("the content is broken")
			}
			if err == nil {
				loads <- string(content)
			}
			return err
		}, func(err error) {
			if err != nil {
				loads <- err.Error()
			}
		})
	}()
	until := func(what, want string) {
		t.Helper()
		deadline := time.After(time.Minute)
		for {
			select {
			case got := <-loads:
				if strings.HasSuffix(got, want) {
					return
				}
			case <-deadline:
				t.Fatalf("no report of %s", what)
			}
		}
	}
	until("the change before Run", "two")
	write(path, "three")
	until("a file that was written", "three")
	write(path+".new", "four")
	rename(path+".new", path)
	until("a file that was replaced", "four")
	write(path, "broken")
	until("a broken file", "the content is broken")
	rename(path, path+".away")
	until("a file that is gone", "no such file or directory")
	write(path, "five")
	until("a file that is back", "five")
	cancel()
	<-ended
}

// TestLinkedDirectory replaces a directory by way of a link, as the kubelet updates a mounted ConfigMap.
func TestLinkedDirectory(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"v1": "one", "v2": "two"} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o700), os.WriteFile(filepath.Join(dir, name, "config"), []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "config")
	if err := errors.Join(os.Symlink("v1", filepath.Join(dir, "..data")), os.Symlink("..data/config", path)); err != nil {
		t.Fatal(err)
	}
	w := reload.New(path)
	loads := make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go w.Run(ctx, func() error {
		content, err := os.ReadFile(path)
		loads <- string(content)
		return err
	}, func(error) {})
	if err := errors.Join(os.Symlink("v2", filepath.Join(dir, "..new")), os.Rename(filepath.Join(dir, "..new"), filepath.Join(dir, "..data"))); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-loads:
		if got != "two" {
			t.Errorf("loaded %q", got)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the change was not noticed")
	}
}
