package testcluster_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/testcluster"
)

// TestMain builds the program of this repository, unless $FAIRLEAD_BINARY names one.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		if os.Getenv("FAIRLEAD_BINARY") != "" {
			return m.Run()
		}
		dir, err := os.MkdirTemp("", "testcluster-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary := filepath.Join(dir, "fairlead")
		build := exec.Command("go", "build", "-C", "..", "-o", binary, "./cmd/fairlead")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "build:", err)
			return 1
		}
		if err := lookAtSources(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		os.Setenv("FAIRLEAD_BINARY", binary)
		return m.Run()
	}())
}

// lookAtSources makes changes of the sources invalidate go test's cached results, which depend on the files that the
// test has opened.
func lookAtSources() error {
	return filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			_, err = os.Stat(path)
		}
		return err
	})
}

// small are options for a test that needs an API server alone.
func small() testcluster.Options {
	return testcluster.Options{NoNodes: true, NoControllers: true, NoScheduler: true}
}

// isolate makes the test's temporary files go to a directory of its own, and returns a function that fails the test if
// any are left.
func isolate(t *testing.T) (check func()) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	return func() {
		t.Helper()
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("left in the temporary directory: %v, %v", left, err)
		}
	}
}
