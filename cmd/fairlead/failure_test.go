package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFailedStore(t *testing.T) {
	dir := t.TempDir()
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	p := newProgress(said)
	broken := fmt.Errorf("syncing x.log: %w", syscall.EIO)
	if err := handleStoreFailure(t.Context(), p, dir, broken); !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), dir) || errors.As(err, &errRestart{}) {
		t.Errorf("a disk that is broken: %v", err)
	}
	full := fmt.Errorf("writing x.log: %w", syscall.ENOSPC)
	if err := handleStoreFailure(t.Context(), p, dir, full); !errors.As(err, &errRestart{}) {
		t.Errorf("a disk that was full: %v", err)
	}
	b, err := os.ReadFile(said.Name())
	if text := string(b); err != nil || strings.Count(text, "\n") != 1 || !strings.Contains(text, dir) || !strings.Contains(text, "no space left on device") {
		t.Errorf("it said %q", text)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := handleStoreFailure(ended, p, dir+"/gone", full); err != nil {
		t.Errorf("an end while the disk is full: %v", err)
	}
}

// TestMessageOfFile: the error of a file begins with its path, after the name of the flag.
func TestMessageOfFile(t *testing.T) {
	_, err := os.Stat("/does/not/exist")
	if got, want := message(fmt.Errorf("--stages: %w", err)), "--stages: /does/not/exist: no such file or directory"; got != want {
		t.Errorf("%q", got)
	}
}
