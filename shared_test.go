package fairlead_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestSharedText: testenv and testcluster have one API, and the text behind it but for how the control plane starts.
// Neither can import the other: testcluster must not depend on this module, and the module that `go install` builds
// fairlead from can't replace another one by a folder. So testenv has copies, which `go test . -run TestSharedText
// -update` makes.
func TestSharedText(t *testing.T) {
	own := []string{"base.go", "binary.go", "command.go", "doc.go", "fork.go", "kubeconfig.go", "options.go", "process.go", "signal_other.go", "signal_unix.go"}
	paths, err := filepath.Glob("testcluster/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		if matched, _ := filepath.Match("*_test.go", name); matched || slices.Contains(own, name) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Replace(text, []byte("package testcluster\n"), []byte("package testenv\n"), 1)
		copied := filepath.Join("testenv", name)
		if *updateAPI {
			if err := os.WriteFile(copied, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(copied); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is no copy of %s (%v): change that, and copy it by: go test . -run TestSharedText -update", copied, path, err)
		}
	}
}
